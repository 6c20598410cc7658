"""An om file as JSON: the messages of MODEL_DEF and TASK_INFO by their fields' names, as atc's mode 1 prints them."""

from __future__ import annotations

import base64
import json
import math
import os
from typing import Any

from gecc.om.container import PartitionType, parse_container
from gecc.om.reader import map_file, read
from gecc.om.schema import Message, ModelDef, ModelTaskDef


def json_form(path: str | os.PathLike[str]) -> str:
    """The model's fields at the top, as atc has them, and its tasks as `task_info`.

    Bytes that are text are written as text, others as {"base64": ...}. Raises OmError for a file that is damaged.
    """
    read(path, verify="full")  # so that what follows can trust the structure
    data = memoryview(map_file(path)).cast("B")
    parts = {p.type: data[p.offset : p.offset + p.size] for p in parse_container(data, str(path)).models[0]}
    form = message_form(ModelDef.FromString(bytes(parts[PartitionType.MODEL_DEF])))
    form["task_info"] = message_form(ModelTaskDef.FromString(bytes(parts[PartitionType.TASK_INFO])))
    return json_text(form)


def json_text(form: Any) -> str:
    """The text of a file. In strings, where alone they can be, characters that do not print are escaped as JSON has it."""
    lines = json.dumps(form, indent=1, ensure_ascii=False).split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines) + "\n"


def _escaped(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def message_form(message: Message) -> dict[str, Any]:
    """A message as JSON has it: by the names of its fields."""
    return {field.name: _field(field, value) for field, value in message.ListFields()}


def _field(field: Any, value: Any) -> Any:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return {key: _value(inner, value[key]) for key in sorted(value)}
    if field.is_repeated:
        return [_value(field, item) for item in value]
    return _value(field, value)


def _value(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return message_form(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = "\0"
        return text if text.isprintable() else {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    return value
