"""An AIPP configuration, read strictly: every value checked, every message with the line that it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gecc.aipp.formats import FORMATS, Format
from gecc.aipp.schema import INPUT_FORMATS, NAMES, config_class
from gecc.errors import CliError
from gecc.files import read_text

MATRIX = (-32677, 32676)
"""Entries of the colour matrix, which are multiples of 1 / 256."""

BYTE = (0, 255)
HALF = (-65504, 65504)

_YUV_TO_RGB = (298, 516, 0, 298, -100, -208, 298, 0, 409)
_BIASES = (16, 128, 128)


@dataclass(frozen=True)
class Csc:
    """`((matrix * (channels - input_bias) + 128) >> 8) + output_bias`, held within 0 to 255."""

    matrix: tuple[tuple[int, int, int], ...]
    input_bias: tuple[int, int, int]
    output_bias: tuple[int, int, int]


@dataclass(frozen=True)
class Channel:
    """`(x - mean - least) * factor`, of one channel."""

    mean: int = 0
    least: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True)
class Aipp:
    """What to do with the pictures of one input, in this order: swaps, crop, colours, normalisation, padding."""

    format: Format
    where: str
    """The file and line where it begins, for messages."""
    rank: int = 0
    """The place of the input among those of the model."""
    name: str | None = None
    """The name of the input; counts more than its place."""
    source: tuple[int, int] | None = None
    """Height and width of a picture; None: those of the model's input."""
    swap_colours: bool = False
    """Red and blue, or the two chromas, change places."""
    rotate_alpha: bool = False
    """The first of four bytes becomes the last."""
    crop: tuple[int, int] | None = None
    """The first row and column that count; None: all do."""
    crop_size: tuple[int | None, int | None] = (None, None)
    """Rows and columns that count; None: as many as the model's input has."""
    csc: Csc | None = None
    channels: tuple[Channel, ...] = (Channel(),) * 4
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Rows and columns of zeros: top, left, bottom, right."""
    warnings: tuple[str, ...] = ()


def read_aipp(path: str) -> tuple[Aipp, ...]:
    """Read the file of --insert_op_conf. Raises CliError, E10052, naming line and field."""
    return aipp_of(read_text(path, "insert_op_conf"), path)


def aipp_of(text: str, path: str) -> tuple[Aipp, ...]:
    """Read the text of a configuration. Raises CliError, E10052, naming line and field."""
    from google.protobuf import text_format

    whole = config_class()()
    try:
        text_format.Parse(text, whole)
    except text_format.ParseError as error:
        raise _syntax_error(error, path) from error
    if not whole.aipp_op:
        raise CliError(
            "E10052: no aipp_op", where=path, hint="expected aipp_op { aipp_mode: static input_format: ... }"
        )
    lines = _lines_of(text)
    return tuple(
        _Reader(params, path, lines[i] if i < len(lines) else {}).read() for i, params in enumerate(whole.aipp_op)
    )


def _syntax_error(error: Any, path: str) -> CliError:
    said = re.sub(r"^\d+:\d+ ?:? ?", "", str(error))
    line = error.GetLine()
    where = path if line is None else f"{path}, line {line}"
    unknown = re.search(r'has no field named "(\w+)"', said)
    if unknown is None:
        return CliError(f"E10052: {said}", where=where)
    name = unknown.group(1)
    close = get_close_matches(name, [*NAMES, "aipp_op"], n=1)
    return CliError(
        f"E10052: there is no field '{name}'", where=where, hint=f"did you mean {close[0]}?" if close else None
    )


def _lines_of(text: str) -> list[dict[str, int]]:
    """Of each aipp_op the lines of its fields, and its own under ""."""
    found: list[dict[str, int]] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        for token in re.finditer(r"[{}<>]|\w+(?=\s*[:{<])|\w+(?=\s*$)", line.partition("#")[0]):
            word = token.group()
            if not inside and word == "aipp_op":
                found.append({"": number})
            elif word in "{<":
                inside = True
            elif word in "}>":
                inside = False
            elif inside and found:
                found[-1].setdefault(word, number)
    return found


class _Reader:
    def __init__(self, params: Any, path: str, lines: dict[str, int]) -> None:
        self.params = params
        self.path = path
        self.lines = lines
        self.warnings: list[str] = []

    def read(self) -> Aipp:
        self._refuse_what_is_not_done()
        form = FORMATS[INPUT_FORMATS[self.params.input_format]]
        crop, crop_size = self._crop(form)
        return Aipp(
            form,
            self._where(""),
            self.params.related_input_rank,
            self.params.related_input_name or None,
            self._source(form),
            self._swap_colours(form),
            self._rotate_alpha(form),
            crop,
            crop_size,
            self._csc(form),
            self._channels(form),
            self._padding(),
            tuple(self.warnings),
        )

    # -- messages -----------------------------------------------------------------------------------------------------

    def _where(self, field: str) -> str:
        line = self.lines.get(field, self.lines.get(""))
        return self.path if line is None else f"{self.path}, line {line}"

    def _error(self, field: str, said: str, hint: str | None = None) -> CliError:
        return CliError(f"E10052: {said}", where=self._where(field), hint=hint)

    def _warn(self, field: str, said: str) -> None:
        self.warnings.append(f"{self._where(field)}: {said}")

    def _number(self, field: str, limits: tuple[int, int]) -> Any:
        value = getattr(self.params, field)
        if not limits[0] <= value <= limits[1]:  # a NaN is not either
            raise self._error(field, f"{field} is {value}, expected {limits[0]} to {limits[1]}")
        return value

    def _given(self, field: str) -> bool:
        return self.params.HasField(field)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _refuse_what_is_not_done(self) -> None:
        if not self._given("aipp_mode") or self.params.aipp_mode == 0:
            raise self._error("aipp_mode", "aipp_mode is missing", "aipp_mode: static")
        if self.params.aipp_mode == 2:
            raise self._error(
                "aipp_mode",
                "aipp_mode is dynamic: parameters that change with every run are not supported",
                "aipp_mode: static, an om for each set of parameters",
            )
        if not self._given("input_format") or self.params.input_format == 0:
            raise self._error("input_format", "input_format is missing", f"one of {', '.join(FORMATS)}")
        name = INPUT_FORMATS[self.params.input_format]
        if name not in FORMATS:
            raise self._error("input_format", f"input_format {name} is not supported", f"one of {', '.join(FORMATS)}")
        for field, why in (
            ("resize", "pictures are not resized"),
            ("single_line_mode", "pictures are not read line by line"),
            ("support_rotation", "pictures are not rotated"),
        ):
            if getattr(self.params, field):
                raise self._error(field, f"{field} is not supported: {why}")
        if self.params.raw_rgbir_to_f16_n:
            raise self._error("raw_rgbir_to_f16_n", "raw_rgbir_to_f16_n is about raw formats, which are not supported")
        if any(self.params.input_edge_idx):
            raise self._error("input_edge_idx", "input_edge_idx other than 0 is not supported: an input is one picture")
        if self.params.cpadding_value:
            raise self._error("cpadding_value", "cpadding_value is not supported: no channels are added")
        if self._given("max_src_image_size"):
            self._warn("max_src_image_size", "max_src_image_size has no effect in static mode")
        for field in ("resize_output_w", "resize_output_h"):
            if getattr(self.params, field):
                self._warn(field, f"{field} has no effect without resize")

    def _source(self, form: Format) -> tuple[int, int] | None:
        height, width = self._size("src_image_size_h"), self._size("src_image_size_w")
        if (height == 0) != (width == 0):
            raise self._error("src_image_size_h", "only one of src_image_size_h and src_image_size_w is given")
        for field, value, step in (
            ("src_image_size_h", height, form.row_step),
            ("src_image_size_w", width, form.column_step),
        ):
            if value % step:
                raise self._error(field, f"{field} is {value}, expected an even number for {form.name}")
        for switch in ("crop", "padding"):
            if getattr(self.params, switch) and not height:
                raise self._error(
                    switch, f"{switch} needs src_image_size_h and src_image_size_w", "the size of the pictures given"
                )
        return (height, width) if height else None

    def _size(self, field: str) -> int:
        return self._number(field, (0, 1 << 20))

    def _crop(self, form: Format) -> tuple[tuple[int, int] | None, tuple[int | None, int | None]]:
        fields = ("load_start_pos_h", "load_start_pos_w", "crop_size_h", "crop_size_w")
        if not self.params.crop:
            for field in fields:
                if getattr(self.params, field):
                    self._warn(field, f"{field} has no effect without crop")
            return None, (None, None)
        top, left, height, width = (self._size(field) for field in fields)
        for field, value, step in (
            ("load_start_pos_h", top, form.row_step),
            ("load_start_pos_w", left, form.column_step),
        ):
            if value % step:
                raise self._error(field, f"{field} is {value}, expected an even number for {form.name}")
        for field, begin, start, size, whole in (
            ("crop_size_h", "load_start_pos_h", top, height, self.params.src_image_size_h),
            ("crop_size_w", "load_start_pos_w", left, width, self.params.src_image_size_w),
        ):
            if start + size > whole:
                raise self._error(
                    field if size else begin,
                    f"the crop goes from {start} to {start + size}, but the picture has {whole} ({field})",
                )
            if not size and self.params.padding:
                raise self._error(field, f"{field} is needed when the picture is padded as well")
        return (top, left), (height or None, width or None)

    def _swap_colours(self, form: Format) -> bool:
        if self.params.rbuv_swap_switch and form.colours == "Y":
            raise self._error("rbuv_swap_switch", f"rbuv_swap_switch: {form.name} has no colours to swap")
        return self.params.rbuv_swap_switch

    def _rotate_alpha(self, form: Format) -> bool:
        if self.params.ax_swap_switch and form.channels != 4:
            raise self._error("ax_swap_switch", f"ax_swap_switch: {form.name} has no fourth byte")
        return self.params.ax_swap_switch

    def _csc(self, form: Format) -> Csc | None:
        entries = [f"matrix_r{r}c{c}" for r in range(3) for c in range(3)]
        biases = {kind: [f"{kind}_bias_{i}" for i in range(3)] for kind in ("input", "output")}
        if not self.params.csc_switch:
            if any(self._given(field) for field in (*entries, *biases["input"], *biases["output"])):
                self._warn("csc_switch", "the colour matrix and its biases have no effect without csc_switch")
            return None
        if form.colours == "Y":
            raise self._error("csc_switch", f"csc_switch: {form.name} has no colours to convert")
        given = [field for field in entries if self._given(field)]
        if given and len(given) != len(entries):
            missing = next(field for field in entries if field not in given)
            raise self._error(given[0], f"the colour matrix lacks {missing}", "all nine entries, in 1 / 256, or none")
        if not given and not form.is_yuv:
            raise self._error("csc_switch", f"csc_switch needs matrix_r0c0 to matrix_r2c2 for {form.name}")
        values = [self._number(field, MATRIX) for field in entries] if given else list(_YUV_TO_RGB)
        used, unused = ("input", "output") if form.is_yuv else ("output", "input")
        for field in biases[unused]:
            if self._number(field, BYTE):
                self._warn(field, f"{field} has no effect: {form.name} takes {used} biases")
        found = tuple(
            self._number(field, BYTE) if self._given(field) else default
            for field, default in zip(biases[used], _BIASES, strict=True)
        )
        rows = tuple((values[3 * r], values[3 * r + 1], values[3 * r + 2]) for r in range(3))
        bias, none = (found[0], found[1], found[2]), (0, 0, 0)
        return Csc(rows, bias if form.is_yuv else none, none if form.is_yuv else bias)

    def _channels(self, form: Format) -> tuple[Channel, ...]:
        found: list[Channel] = []
        for i in range(4):
            mean = self._number(f"mean_chn_{i}", BYTE)
            least = self._number(f"min_chn_{i}", HALF)
            field = f"var_reci_chn_{i}"
            factor = self._number(field, HALF) if self._given(field) else 1.0
            if factor == 0:
                raise self._error(field, f"{field} is 0, which would make the channel 0")
            found.append(Channel(mean, least, factor))
        return tuple(found)

    def _padding(self) -> tuple[int, int, int, int]:
        fields: Sequence[str] = [f"{side}_padding_size" for side in ("top", "left", "bottom", "right")]
        if not self.params.padding:
            for field in fields:
                if getattr(self.params, field):
                    self._warn(field, f"{field} has no effect without padding")
            return (0, 0, 0, 0)
        top, left, bottom, right = (self._size(field) for field in fields)
        return (top, left, bottom, right)
