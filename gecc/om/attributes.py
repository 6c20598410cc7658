"""Attribute values <-> AttrDef, for the kinds that every reader of the format shows: i, f, b, s, their lists, lists of ints."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from typing import TypeVar

from gecc.errors import OmError
from gecc.om.kernel_store import decode_text
from gecc.om.records import INT64, AttrValue, Scalar
from gecc.om.schema import Message

_STRING, _INT, _FLOAT, _BOOL = 1, 2, 3, 4  # AttrDef.ListValue.val_type


def encode_attr(out: Message, value: AttrValue, what: str) -> None:
    """Write `value` into the empty AttrDef `out`. OmError when the container has no form for it."""
    if isinstance(value, tuple):
        _encode_list(out, value, what)
        return
    match _kind(value, what):
        case "b":
            out.b = value
        case "i":
            out.i = value
        case "f":
            out.f = single(float(value), what)
        case _:
            out.s = str(value).encode()


def _encode_list(out: Message, values: tuple, what: str) -> None:
    if values and all(isinstance(v, tuple) for v in values):
        for row in values:
            if any(_kind(v, what) != "i" for v in row):
                raise OmError(f"{what} is {values!r}, expected rows of ints")
            out.list_list_int.list_list_i.add().list_i.extend(row)
        return
    kinds = [_kind(v, what) for v in values]
    if any(kind != kinds[0] for kind in kinds):
        raise OmError(f"{what} is {values!r}, expected values of one kind")
    match kinds[0] if kinds else "":
        case "":
            out.list.val_type = 0
        case "b":
            out.list.val_type = _BOOL
            out.list.b.extend(values)
        case "i":
            out.list.val_type = _INT
            out.list.i.extend(values)
        case "f":
            out.list.val_type = _FLOAT
            out.list.f.extend(single(v, what) for v in values)
        case _:
            out.list.val_type = _STRING
            out.list.s.extend(v.encode() for v in values)


def _kind(value: object, what: str) -> str:
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int):
        if value not in INT64:
            raise OmError(f"{what} is {value}, expected a signed 64-bit integer")
        return "i"
    if isinstance(value, float):
        return "f"
    if isinstance(value, str):
        return "s"
    raise OmError(
        f"{what} is {value!r} of type {type(value).__name__}, expected bool, int, float, str or a tuple of them"
    )


def single(value: float, what: str) -> float:
    """`value` rounded to single precision, which is what the container stores. OmError when it is out of range."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        raise OmError(f"{what} is {value}, too great for single precision") from None


def decode_attr(attr: Message, what: str, where: str) -> AttrValue:
    """The value of an AttrDef. OmError for a kind that `encode_attr` never writes."""
    match attr.WhichOneof("value"):
        case "i":
            return attr.i
        case "f":
            return attr.f
        case "b":
            return attr.b
        case "s":
            return decode_text(attr.s, what, where)
        case "list_list_int":
            return tuple(tuple(row.list_i) for row in attr.list_list_int.list_list_i)
        case "list":
            return _decode_list(attr.list, what, where)
        case kind:
            raise OmError(
                f"{what} has an attribute of kind '{kind}', expected i, f, b, s, list or list_list_int", where=where
            )


def _decode_list(values: Message, what: str, where: str) -> AttrValue:
    match values.val_type:
        case 0:
            kept: AttrValue = ()
        case 1:
            kept = tuple(decode_text(v, what, where) for v in values.s)
        case 2:
            kept = tuple(values.i)
        case 3:
            kept = tuple(values.f)
        case 4:
            kept = tuple(values.b)
        case kind:
            raise OmError(f"{what} is a list of kind {kind}, expected 0 to {_BOOL}", where=where)
    held = sum(len(items) for field, items in values.ListFields() if field.name != "val_type")
    if held != len(kept):
        raise OmError(
            f"{what} is a list of kind {values.val_type} with {held} values, {len(kept)} of that kind", where=where
        )
    return kept


def _check_name(name: str, what: str, where: str | None = None) -> None:
    if not name or not name.isascii() or not name.isprintable():
        message = f"{what} has an attribute {name!r}, expected a name of printable ASCII characters"
        raise OmError(message, where=where)


def encode_attrs(out: Message, attrs: Mapping[str, AttrValue], reserved: Collection[str], what: str) -> None:
    """Write free attributes into the map `out`, in the order of their names."""
    for name in sorted(attrs):
        if name in reserved:
            raise OmError(f"{what} has an attribute '{name}', a name the format itself uses")
        _check_name(name, what)
        encode_attr(out[name], attrs[name], f"attribute '{name}' of {what}")


def decode_attrs(attrs: Message, reserved: Collection[str], what: str, where: str) -> dict[str, AttrValue]:
    """The free attributes of a map, ordered by name."""
    for name in attrs:
        _check_name(name, what, where)
    return {n: decode_attr(attrs[n], f"attribute '{n}' of {what}", where) for n in sorted(attrs) if n not in reserved}


_T = TypeVar("_T", bound=Scalar)


def required(attrs: Message, name: str, kind: type[_T], what: str, where: str) -> _T:
    """The scalar attribute `name` of the type `kind`. OmError when it is absent or of another kind."""
    if name not in attrs:
        raise OmError(f"{what} has no attribute '{name}'", where=where, hint="the file was not written by gecc")
    attr = attrs[name]
    if kind is int and attr.WhichOneof("value") == "i":  # the common case, met for every result of every node
        return attr.i
    value = decode_attr(attr, f"attribute '{name}' of {what}", where)
    if type(value) is not kind:
        raise OmError(f"attribute '{name}' of {what} is {value!r}, expected {kind.__name__}", where=where)
    return value


def text_list(attrs: Message, name: str, what: str, where: str) -> tuple[str, ...]:
    """The list-of-strings attribute `name`, empty when absent."""
    if name not in attrs:
        return ()
    value = decode_attr(attrs[name], f"attribute '{name}' of {what}", where)
    texts = tuple(v for v in value if isinstance(v, str)) if isinstance(value, tuple) else ()
    if not isinstance(value, tuple) or len(texts) != len(value):
        raise OmError(f"attribute '{name}' of {what} is {value!r}, expected a list of strings", where=where)
    return texts


def int_list(attrs: Message, name: str, what: str, where: str) -> tuple[int, ...]:
    """The list-of-ints attribute `name`."""
    value = decode_attr(attrs[name], f"attribute '{name}' of {what}", where)
    ints = tuple(v for v in value if type(v) is int) if isinstance(value, tuple) else ()
    if not isinstance(value, tuple) or len(ints) != len(value):
        raise OmError(f"attribute '{name}' of {what} is {value!r}, expected a list of ints", where=where)
    return ints


def row_list(attrs: Message, name: str, what: str, where: str) -> tuple[tuple[int, ...], ...]:
    """The list-of-rows attribute `name`, empty when absent."""
    if name not in attrs:
        return ()
    value = decode_attr(attrs[name], f"attribute '{name}' of {what}", where)
    rows = tuple(v for v in value if isinstance(v, tuple)) if isinstance(value, tuple) else ()
    if not isinstance(value, tuple) or not rows or len(rows) != len(value):
        raise OmError(f"attribute '{name}' of {what} is {value!r}, expected rows of ints", where=where)
    return rows
