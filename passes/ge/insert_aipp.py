"""ge-insert-aipp: inputs are pictures of bytes, prepared by operators of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gecc.dialects import ge
from gecc.dialects.ge.types import f32, i32, row_major, ui8
from gecc.errors import CliError
from gecc.gear_module import input_names, main_functions
from gecc.rewrite import name_location

if TYPE_CHECKING:
    from gecc.aipp import Aipp, Csc

_T = TypeVar("_T")

CHANNELS = {"NCHW": 1, "NHWC": 3}
"""Where the channels are."""


@dataclass(frozen=True)
class InsertAipp(ModulePass):
    """Let inputs be pictures of bytes, and prepare them as an AIPP configuration says.

    ```mlir
    func.func @main(%x: tensor<1x3x4x4xf32>) -> ...
    // becomes, with input_format: RGB888_U8, mean_chn_i: 128 and var_reci_chn_i: 0.01
    func.func @main(%x: tensor<1x4x4x3xui8>) -> ... {
      %c = ge.Transpose(%x) perm [0, 3, 1, 2] : (tensor<1x4x4x3xui8>) -> tensor<1x3x4x4xui8>
      %f = ge.Cast(%c) : (tensor<1x3x4x4xui8>) -> tensor<1x3x4x4xf32>
      %m = ge.Sub(%f, %mean) : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x4x4xf32>
      %n = ge.Mul(%m, %factor) : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x4x4xf32>
    ```

    The order is that of Ascend's: swaps, crop, conversion of colours, normalisation, padding. `config` is a file of
    --insert_op_conf, or `text` what it would hold; `input_format` says where the model's input has its channels, NCHW
    or NHWC. The operators made are named `aipp_<input>`.

    Needs: inputs of floats with four dimensions of known sizes, 1, 3 or 4 channels. Raises CliError where the
    configuration does not fit them.
    """

    name = "ge-insert-aipp"

    config: str = ""
    text: str = ""
    input_format: str = "NCHW"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        insert(op, self.configs(), self.input_format)

    def configs(self) -> tuple[Aipp, ...]:
        """What file or text say. Raises CliError."""
        from gecc.aipp import aipp_of, read_aipp

        if bool(self.config) == bool(self.text):
            raise CliError("ge-insert-aipp takes either config, a file, or text", hint='{config="aipp.cfg"}')
        return read_aipp(self.config) if self.config else aipp_of(self.text, "the configuration")


def insert(module: ModuleOp, configs: Sequence[Aipp], input_format: str) -> None:
    """Insert what `configs` say. Raises CliError as the pass does."""
    if input_format not in CHANNELS:
        raise CliError(f"AIPP makes inputs of NCHW or NHWC, the input format is {input_format}")
    for function in main_functions(module):
        seen: dict[int, str] = {}
        chosen = [(_place(function, config), config) for config in configs]
        for place, config in chosen:
            if place in seen:
                name = input_names(function)[place]
                raise CliError(f"E10052: two aipp_op are about input '{name}'", where=config.where, hint=seen[place])
            seen[place] = f"the other one is at {config.where}"
        for place, config in chosen:
            _Inserter(function, place, config, input_format).run()
        types = [a.type for a in function.body.block.args]
        function.function_type = FunctionType.from_lists(types, list(function.function_type.outputs))


def inputs_of(module: ModuleOp, configs: Sequence[Aipp]) -> list[str]:
    """Names of the inputs that configurations are about. Raises CliError for one that the model has not."""
    function = main_functions(module)[0]
    return [input_names(function)[_place(function, config)] for config in configs]


def _place(function: FuncOp, config: Aipp) -> int:
    """The place of the input that a configuration is about."""
    names = input_names(function)
    if config.name is not None:
        if config.name not in names:
            close = get_close_matches(config.name, names, n=1)
            raise CliError(
                f"E10016: related_input_name is '{config.name}', but no input is called so",
                where=config.where,
                hint=f"did you mean {close[0]}?" if close else f"the inputs are {', '.join(names)}",
            )
        return names.index(config.name)
    if config.rank >= len(names):
        raise CliError(
            f"E10052: related_input_rank is {config.rank}, but the model has {len(names)} inputs", where=config.where
        )
    return config.rank


class _Inserter:
    def __init__(self, function: FuncOp, place: int, config: Aipp, input_format: str) -> None:
        self.function = function
        self.place = place
        self.config = config
        self.input_format = input_format
        self.name = input_names(function)[place]
        self.block: Block = function.body.block
        self.argument = self.block.args[place]
        self.made: list[Operation] = []

    def run(self) -> None:
        kind = self._kind()
        n, channels, height, width = self._model_shape(kind)
        source, (top, left, rows, columns) = self._sizes(height, width)
        shape = self.config.format.shape(n, *source)
        taken = self.block.insert_arg(row_major(shape, ui8), self.place)
        taken.name_hint = self.argument.name_hint
        axis = CHANNELS[self.input_format]
        if self.config.csc is None and self.config.format.column_step == 1:
            x = self._interleaved(taken, channels, (top, left, rows, columns))
        else:
            x = self._joined(self._planes(taken, n, *source), channels, (top, left, rows, columns))
        x = self._padded(self._normalised(self._add(ge.Cast(x, f32)), axis))
        if kind.element_type != f32:
            x = self._add(ge.Cast(x, kind.element_type))
        location = name_location(f"aipp_{self.name}")
        for op in self.made:
            op.location = location
        Rewriter.insert_op(self.made, InsertPoint.at_start(self.block))
        self.argument.replace_all_uses_with(x)
        self.block.erase_arg(self.argument)
        self._rename(shape)

    # -- what the model says ------------------------------------------------------------------------------------------

    def _kind(self) -> TensorType[Any]:
        kind = self.argument.type
        if not isinstance(kind, TensorType) or not isinstance(kind.element_type, AnyFloat):
            raise self._error(f"input '{self.name}' is {kind}, expected floats: a picture becomes floats")
        if kind.get_num_dims() != 4 or not kind.has_static_shape():
            raise self._error(f"input '{self.name}' is {kind}, expected four dimensions of known sizes")
        return kind

    def _model_shape(self, kind: TensorType[Any]) -> tuple[int, int, int, int]:
        shape = kind.get_shape()
        n, c, h, w = shape if self.input_format == "NCHW" else (shape[0], shape[3], shape[1], shape[2])
        form = self.config.format
        fitting = {1: (1,), 3: (3,), 4: (3, 4)}[form.channels]
        if self.config.csc is not None and _is_grey(self.config.csc):
            fitting = (1, *fitting)
        if c not in fitting:
            hint = None
            if c == 1 and form.channels > 1:
                hint = "csc_switch with a matrix whose second and third rows and biases are 0 makes one channel"
            elif c not in (1, 3, 4):
                hint = "input_format says where the model has its channels: NCHW or NHWC"
            raise self._error(
                f"{form.name} makes {' or '.join(map(str, fitting))} channels, but input '{self.name}' has {c} "
                f"({self.input_format}, {list(shape)})",
                hint,
            )
        return n, c, h, w

    def _sizes(self, height: int, width: int) -> tuple[tuple[int, int], tuple[int, int, int, int]]:
        """The size of the picture, and the rows and columns of it that count: top, left, how many."""
        config = self.config
        above, before, below, behind = config.padding
        source = config.source or (height, width)
        top, left = config.crop or (0, 0)
        if config.crop is None:
            rows, columns = source
        else:
            rows, columns = config.crop_size[0] or height, config.crop_size[1] or width
        for what, start, size, whole in (("rows", top, rows, source[0]), ("columns", left, columns, source[1])):
            if start + size > whole:
                raise self._error(f"the crop goes to {start + size} of the {whole} {what} of the picture")
        found = (rows + above + below, columns + before + behind)
        if found != (height, width):
            raise self._error(
                f"what is left of the picture is {found[0]} x {found[1]} (height x width; {rows} x {columns} and the "
                f"padding), but input '{self.name}' is {height} x {width}",
                "src_image_size, crop_size and padding_size decide it",
            )
        for size, step, what in zip(source, (config.format.row_step, config.format.column_step), "hw", strict=True):
            if size % step:
                raise self._error(f"the picture has {size} in {what}, expected an even number for {config.format.name}")
        return source, (top, left, rows, columns)

    def _error(self, said: str, hint: str | None = None) -> CliError:
        return CliError(f"E10052: {said}", where=self.config.where, hint=hint)

    def _rename(self, shape: Sequence[int]) -> None:
        """Let the function say the sizes of its input, which are no longer the model's."""
        dims = self.function.attributes.get("ge.input_dims")
        if isinstance(dims, ArrayAttr):
            entries = list(dims)
            entries[self.place] = ArrayAttr([StringAttr(str(d)) for d in shape])
            self.function.attributes["ge.input_dims"] = ArrayAttr(entries)

    # -- operators ----------------------------------------------------------------------------------------------------

    def _add(self, op: Operation) -> SSAValue:
        self.made.append(op)
        return op.results[0]

    def _interleaved(self, x: SSAValue, channels: int, window: tuple[int, int, int, int]) -> SSAValue:
        """Pictures whose channels lie side by side and are not converted."""
        top, left, rows, columns = window
        if (top, left, rows, columns) != (0, 0, *ge.dims(x)[1:3]):
            x = self._add(ge.Slice(x, (top, left), (top + rows, left + columns), (1, 2), (1, 1)))
        order = self._swapped(list(range(self.config.format.channels)))[:channels]
        if order != list(range(ge.dims(x)[3])):
            import numpy as np

            x = self._add(ge.Gather(x, self._add(ge.const(np.array(order, np.int64))), axis=3))
        return x if self.input_format == "NHWC" else self._add(ge.Transpose(x, perm=(0, 3, 1, 2)))

    def _joined(self, planes: list[SSAValue], channels: int, window: tuple[int, int, int, int]) -> SSAValue:
        """Pictures from their channels, each [n, 1, height, width]."""
        top, left, rows, columns = window
        planes = self._swapped(planes)
        if (top, left, rows, columns) != (0, 0, *ge.dims(planes[0])[2:]):
            planes = [self._add(ge.Slice(p, (top, left), (top + rows, left + columns), (2, 3), (1, 1))) for p in planes]
        planes = self._colours(planes, channels)
        axis = CHANNELS[self.input_format]
        if axis == 3:
            planes = [self._add(ge.Reshape(p, (ge.dims(p)[0], rows, columns, 1))) for p in planes]
        return planes[0] if len(planes) == 1 else self._add(ge.Concat(planes, axis=axis))

    def _planes(self, x: SSAValue, n: int, height: int, width: int) -> list[SSAValue]:
        """The channels as they are in memory, each [n, 1, height, width]."""
        form = self.config.format
        if form.name in ("YUV420SP_U8", "YUV422SP_U8"):
            rows = height // form.row_step
            luma = self._channel(self._rows(x, 0, height), 0, (n, 1, height, width))
            pairs = self._rows(x, height, height + rows)
            pairs = self._add(ge.Reshape(pairs, (n, rows, width // 2, 2)))
            return [luma, *(self._spread(pairs, i, n, height, width) for i in (0, 1))]
        if form.name == "YUYV_U8":
            luma = self._channel(x, 0, (n, 1, height, width))
            quads = self._add(ge.Reshape(x, (n, height, width // 2, 4)))
            return [luma, *(self._spread(quads, i, n, height, width) for i in (1, 3))]
        return [self._channel(x, i, (n, 1, height, width)) for i in range(form.channels)]

    def _rows(self, x: SSAValue, start: int, stop: int) -> SSAValue:
        return self._add(ge.Slice(x, (start,), (stop,), (1,), (1,)))

    def _channel(self, x: SSAValue, i: int, shape: Sequence[int]) -> SSAValue:
        """Channel i of what has its channels last, in a shape of as many elements."""
        if ge.dims(x)[3] > 1:
            x = self._add(ge.Slice(x, (i,), (i + 1,), (3,), (1,)))
        return self._add(ge.Reshape(x, shape))

    def _spread(self, pairs: SSAValue, i: int, n: int, height: int, width: int) -> SSAValue:
        """A chroma, which every pixel of its block has."""
        down, across = self.config.format.row_step, self.config.format.column_step
        rows, columns = height // down, width // across
        x = self._channel(pairs, i, (n, rows, 1, columns, 1))
        x = self._add(ge.Expand(x, (n, rows, down, columns, across)))
        return self._add(ge.Reshape(x, (n, 1, height, width)))

    def _swapped(self, planes: list[_T]) -> list[_T]:
        """Channels in the order that the swaps say."""
        config = self.config
        if config.rotate_alpha:
            planes = [*planes[1:], planes[0]]
        if config.swap_colours:
            # of Y, U, V the last two, of R, G, B the first and the last
            i, j = (1, 2) if config.format.is_yuv else (0, 2)
            planes[i], planes[j] = planes[j], planes[i]
        return planes

    def _colours(self, planes: list[SSAValue], channels: int) -> list[SSAValue]:
        """The planes that the model has, converted if wanted; a fourth is left as it is."""
        csc = self.config.csc
        if csc is None:
            return planes[:channels]
        wide = [self._add(ge.Cast(p, i32)) for p in planes[:3]]
        shifted = [self._plus(p, -bias) for p, bias in zip(wide, csc.input_bias, strict=True)]
        rows = [self._row(shifted, csc.matrix[r], csc.output_bias[r]) for r in range(min(channels, 3))]
        return [*rows, *planes[3:channels]]

    def _row(self, planes: Sequence[SSAValue], entries: Sequence[int], bias: int) -> SSAValue:
        total: SSAValue | None = None
        for plane, entry in zip(planes, entries, strict=True):
            if entry:
                part = plane if entry == 1 else self._add(ge.Mul(plane, self._scalar(entry)))
                total = part if total is None else self._add(ge.Add(total, part))
        if total is None:  # a row of zeros
            total = self._add(ge.Mul(planes[0], self._scalar(0)))
        # (total + 128) >> 8, where / rounds towards zero: nothing is below -lowest * 256
        lowest = (255 * sum(abs(e) for e in entries) + 255) // 256 + 1
        total = self._plus(total, 128 + 256 * lowest)
        total = self._add(ge.RealDiv(total, self._scalar(256)))
        total = self._plus(total, bias - lowest)
        total = self._add(ge.Maximum(total, self._scalar(0)))
        return self._add(ge.Cast(self._add(ge.Minimum(total, self._scalar(255))), ui8))

    def _plus(self, x: SSAValue, number: int) -> SSAValue:
        return self._add(ge.Add(x, self._scalar(number))) if number else x

    def _scalar(self, number: int) -> SSAValue:
        import numpy as np

        return self._add(ge.const(np.array(number, np.int32)))

    def _normalised(self, x: SSAValue, axis: int) -> SSAValue:
        count = ge.dims(x)[axis]
        channels = self.config.channels[:count]
        for numbers, neutral, cls in (
            ([c.mean for c in channels], 0, ge.Sub),
            ([c.least for c in channels], 0, ge.Sub),
            ([c.factor for c in channels], 1, ge.Mul),
        ):
            if any(number != neutral for number in numbers):
                x = self._add(cls(x, self._per_channel(numbers, axis)))
        return x

    def _per_channel(self, numbers: Sequence[float], axis: int) -> SSAValue:
        import numpy as np

        shape = [1, 1, 1, 1]
        shape[axis] = len(numbers)
        return self._add(ge.const(np.array(numbers, np.float32).reshape(shape)))

    def _padded(self, x: SSAValue) -> SSAValue:
        top, left, bottom, right = self.config.padding
        if not any(self.config.padding):
            return x
        first = 2 if self.input_format == "NCHW" else 1  # the axis of rows
        pads = [0] * 8
        pads[first : first + 2], pads[first + 4 : first + 6] = (top, left), (bottom, right)
        return self._add(ge.Pad(x, pads=pads))


def _is_grey(csc: Csc) -> bool:
    """Whether the second and third channel come out as nothing."""
    return not any((*csc.matrix[1], *csc.matrix[2], *csc.output_bias[1:]))
