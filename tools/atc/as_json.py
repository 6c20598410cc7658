"""Modes 1 and 5: an om, a model or a dumped graph as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gecc.errors import CliError, InvalidModelError, WeightError
from gecc.files import read_text, write_whole
from gecc.tools.atc.command import Command, make_folder_of
from gecc.tools.atc.inputs import OPEN, parse_shapes, resized, tensor_inputs
from gecc.tools.atc.model import check_framework, out_nodes

if TYPE_CHECKING:
    from onnx import ModelProto

LONGEST = 1024
"""Bytes of a tensor's data that JSON of a model shows at most."""

_DATA = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


def to_json(command: Command) -> int:
    """Write an om or an ONNX model as JSON; returns the exit code. Raises GeccError of the kind that fits."""
    path = (
        command["om"] or command["model"] or command.need("om", "mode 1 reads it: an om, or with --framework a model")
    )
    target = command.need("json", "mode 1 writes it")
    framework = command["framework"]
    if framework is not None:
        check_framework(framework)
    if framework is None and "model" not in command and not path.endswith(".onnx"):
        if command["dump_mode"] == "1":
            raise CliError("--dump_mode=1 is for models; an om holds all shapes in any case")
        from gecc.debug.inspect.json_form import json_form

        text = json_form(path)
    else:
        text = _model_json(command, path)
    make_folder_of(target)
    write_whole(target, text)
    print(f"{target}: JSON of {path}")
    return 0


def _model_json(command: Command, path: str) -> str:
    from gecc.debug.inspect.json_form import json_text
    from gecc.frontend.onnx import load_model

    wanted = out_nodes(command)
    model = load_model(path)
    shapes = parse_shapes(command["input_shape"] or "", model) if command["dump_mode"] == "1" else None
    if shapes is not None:
        model = resized(model, shapes)
    if wanted is not None:
        from gecc.frontend.onnx.cutting import with_outputs

        model = with_outputs(model, wanted)
    return json_text(onnx_form(model.proto if shapes is None else _with_shapes(model.proto, shapes, path)))


def _with_shapes(proto: ModelProto, given: dict[str, tuple[int, ...]], path: str) -> ModelProto:
    """The model with the types and shapes of its values, as ONNX infers them from those given and declared; sizes given as
    -1 stay open."""
    import onnx

    from gecc.frontend.onnx.inputs import declared_shape, specialise

    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    inputs = tensor_inputs(copy.graph)
    known = {name: sizes for name, sizes in given.items() if OPEN not in sizes}
    shapes = {**specialise([declared_shape(info, path) for info in inputs], known), **given}
    for info in inputs:
        for dim, size in zip(info.type.tensor_type.shape.dim, shapes[info.name], strict=False):
            if size != OPEN:
                dim.dim_value = size
    try:
        return onnx.shape_inference.infer_shapes(copy, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, ValueError) as error:
        raise InvalidModelError(f"ONNX cannot infer the shapes: {str(error).strip()}", where=path) from error


def onnx_form(proto: ModelProto) -> dict[str, Any]:
    """An ONNX model as JSON has it: by the names of its fields, without long data of tensors, whose place holds the
    number of bytes or numbers."""
    from google.protobuf.json_format import MessageToDict

    copy = type(proto)()
    copy.CopyFrom(proto)
    return MessageToDict(_short(copy), preserving_proto_field_name=True)


def _short(message: Any) -> Any:
    """The message, with the long data of all tensors in it replaced by a note in their documentation."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for item in value if field.is_repeated else (value,):
            if field.message_type.name == "TensorProto":
                for name in _DATA:
                    data = getattr(item, name)
                    if len(data) > LONGEST:
                        item.doc_string = (
                            f"{len(data)} {'bytes' if name == 'raw_data' else 'values'} of {name} left out"
                        )
                        item.ClearField(name)
            _short(item)
    return message


def dumped_to_json(command: Command) -> int:
    """Write a dumped graph as JSON; returns the exit code. Raises CliError for a file that is none.

    GE dumps ge_proto_*.txt, the text of a ModelDef; gecc dumps ge_graph_*.mlir, and graphs as .onnx beside it.
    """
    path = command.need("om", "mode 5 reads it: a dumped graph, such as ge_proto_00000_Build.txt")
    target = command.need("json", "mode 5 writes it")
    suffix = Path(path).suffix
    if suffix == ".mlir":
        text = _mlir_json(path)
    elif suffix == ".onnx":
        from gecc.debug.inspect.json_form import json_text
        from gecc.frontend.onnx.model import parse_file

        text = json_text(onnx_form(parse_file(Path(path))))
    else:
        text = _proto_json(path)
    make_folder_of(target)
    write_whole(target, text)
    print(f"{target}: JSON of {path}")
    return 0


def _proto_json(path: str) -> str:
    """The text of a ge.proto.ModelDef."""
    from google.protobuf import text_format

    from gecc.debug.inspect.json_form import json_text, message_form
    from gecc.om.schema import ModelDef

    text = read_text(path, hint="mode 5 reads dumped graphs; --mode=1 reads an om")
    try:
        message = text_format.Parse(text, ModelDef(), allow_unknown_field=True)
    except text_format.ParseError as error:
        raise CliError(
            f"'{path}' is no dumped graph: {error}",
            hint="expected the text of a ModelDef (ge_proto_*.txt), or ge_graph_*.mlir or .onnx of gecc",
        ) from error
    form = message_form(message)
    if "graph" not in form:
        raise CliError(f"'{path}' is no dumped graph: it holds no graph")
    return json_text(form)


def _mlir_json(path: str) -> str:
    """A module that gecc dumped, as the ONNX that shows it."""
    from gecc import translate
    from gecc.debug.inspect.json_form import json_text
    from gecc.frontend.onnx.export import export_onnx

    subject = translate.read(path, "mlir")
    try:
        proto = export_onnx(subject.ctx, subject.as_module())[0]
    except WeightError as error:
        raise CliError(
            f"'{path}' was dumped without its weights", hint="take the .onnx beside it, or dump with DUMP_GE_GRAPH=1"
        ) from error
    return json_text(onnx_form(proto))
