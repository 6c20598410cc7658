"""The protobuf messages of the container, built in code in a pool of their own.

`ge.proto` (MODEL_DEF) and `domi` (TASK_INFO) as the Graph Engine defines them: names, numbers and types of the fields that
its files use. No protoc, no generated files, and no clash with another library that registers the same names. Fields not
listed here are kept as unknown fields by the parser.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

Message: TypeAlias = Any
"""An instance of a class below; the fields exist at run time only."""

MessageClass: TypeAlias = Any

# A field: "name number type", type one of the scalars, a message of the same package, or map<string,T>; "*" repeats it,
# "?" puts it in the message's oneof.
_GE = {
    "ModelDef": "name 1 string, version 2 uint32, custom_version 3 string, graph 7 GraphDef*, attr 11 map:AttrDef",
    "GraphDef": "name 1 string, input 4 string*, output 5 string*, op 6 OpDef*, attr 11 map:AttrDef",
    "OpDef": "name 1 string, type 2 string, input 5 string*, attr 10 map:AttrDef, has_out_attr 20 bool, id 21 int64, "
    "stream_id 22 int64, input_name 23 string*, src_name 24 string*, src_index 25 int64*, dst_name 26 string*, "
    "dst_index 27 int64*, input_i 28 int64*, output_i 29 int64*, workspace 30 int64*, workspace_bytes 31 int64*, "
    "is_input_const 32 bool*, input_desc 33 TensorDescriptor*, output_desc 34 TensorDescriptor*, "
    "subgraph_name 35 string*",
    "TensorDescriptor": "name 1 string, dtype 2 DataType, shape 3 ShapeDef, layout 4 string, attr 5 map:AttrDef, "
    "has_out_attr 9 bool, size 10 int64, weight_size 11 int64, reuse_input 12 bool, output_tensor 13 bool, "
    "device_type 14 string, input_tensor 15 bool, real_dim_cnt 16 int64, reuse_input_index 17 int64, "
    "data_offset 18 int64, cmps_size 19 int64, cmps_tab 20 string, cmps_tab_offset 21 int64",
    "ShapeDef": "dim 1 int64*",
    "TensorDef": "desc 1 TensorDescriptor, data 2 bytes",
    "NamedAttrs": "name 1 string, attr 2 map:AttrDef",
    "AttrDef": "list 1 AttrDef.ListValue?, s 2 bytes?, i 3 int64?, f 4 float?, b 5 bool?, bt 7 bytes?, "
    "func 10 NamedAttrs?, td 11 TensorDescriptor?, t 12 TensorDef?, g 13 GraphDef?, "
    "list_list_int 14 AttrDef.ListListInt?, dt 15 int64?, list_list_float 16 AttrDef.ListListFloat?, "
    "expression 17 bytes?",
    "AttrDef.ListValue": "s 2 bytes*, i 3 int64*, f 4 float*, b 5 bool*, bt 7 bytes*, td 8 TensorDescriptor*, "
    "t 9 TensorDef*, g 10 GraphDef*, na 11 NamedAttrs*, dt 12 int64*, val_type 20 ListValueType",
    "AttrDef.ListListInt": "list_list_i 1 AttrDef.ListListInt.ListInt*",
    "AttrDef.ListListInt.ListInt": "list_i 1 int64*",
    "AttrDef.ListListFloat": "list_list_f 1 AttrDef.ListListFloat.ListFloat*",
    "AttrDef.ListListFloat.ListFloat": "list_f 1 float*",
}

_DOMI = {
    "ModelTaskDef": "version 1 string, attr 9 map:string, task 10 TaskDef*, memory_size 11 uint64, stream_num 12 uint32, "
    "event_num 13 uint32, weight_size 14 uint64, op 15 bytes*, base_addr 16 uint64, weight_addr 17 uint64, "
    "batch_num 18 uint32",
    "TaskDef": "id 1 uint32, type 2 uint32, stream_id 10 uint32, event_id 11 uint32, kernel 20 KernelDef, "
    "kernel_ex 21 KernelExDef, event_ex 26 EventExDef, label_id 30 uint32, memcpy_async 31 MemcpyAsyncDef, "
    "private_def 34 bytes, label_set 37 LabelSetDef, label_goto_ex 38 LabelGotoExDef, "
    "label_switch_by_index 39 LabelSwitchByIndexDef",
    "KernelDef": "context 1 KernelContext, stub_func 10 string, block_dim 11 uint32, args_size 12 uint32, args 13 bytes, "
    "sm_desc 14 bytes, flowtable 15 bytes, so_name 16 string, kernel_name 17 string, kernel_ext_info 18 bytes, "
    "kernel_ext_info_size 19 uint32",
    "KernelContext": "kernel_type 1 uint32, op_id 2 uint32, kernel_func_id 3 uint32, op_index 4 uint32, "
    "is_flowtable 5 bool, args_offset 6 bytes, args_count 7 uint32, origin_op_index 8 uint32*",
    "KernelExDef": "flags 1 uint32, op_index 4 uint32, args_size 12 uint32, args 13 bytes, task_info 14 bytes, "
    "task_info_size 15 uint32",
    "LabelSetDef": "op_index 1 uint32, label_id 2 uint32, model_id 3 uint32",
    "LabelGotoExDef": "op_index 1 uint32, label_id 2 uint32, model_id 3 uint32",
    "LabelSwitchByIndexDef": "op_index 1 uint32, label_max 2 uint32",
    "EventExDef": "op_index 1 uint32, event_type 2 uint32",
    "MemcpyAsyncDef": "dst 1 uint64, dst_max 2 uint64, src 3 uint64, count 4 uint64, kind 5 uint32, op_index 6 uint32",
}

_DATA_TYPES = (
    "DT_UNDEFINED DT_FLOAT DT_FLOAT16 DT_INT8 DT_UINT8 DT_INT16 DT_UINT16 DT_INT32 DT_INT64 DT_UINT32 DT_UINT64 DT_BOOL "
    "DT_DOUBLE DT_STRING DT_DUAL_SUB_INT8 DT_DUAL_SUB_UINT8 DT_COMPLEX64 DT_COMPLEX128 DT_QINT8 DT_QINT16 DT_QINT32 "
    "DT_QUINT8 DT_QUINT16 DT_RESOURCE DT_STRING_REF DT_DUAL DT_VARIANT DT_BF16 DT_INT4 DT_UINT1 DT_INT2 DT_UINT2"
).split()

_LIST_VALUE_TYPES = (
    "VT_LIST_NONE VT_LIST_STRING VT_LIST_INT VT_LIST_FLOAT VT_LIST_BOOL VT_LIST_BYTES VT_LIST_TENSOR_DESC VT_LIST_TENSOR "
    "VT_LIST_GRAPH VT_LIST_NAMED_ATTRS VT_LIST_DATA_TYPE"
).split()

DATA_TYPE: dict[str, int] = {
    "f32": 1, "f16": 2, "i8": 3, "ui8": 4, "i16": 5, "ui16": 6, "i32": 7, "i64": 8, "ui32": 9, "ui64": 10, "i1": 11,
    "f64": 12, "bf16": 27,
}  # fmt: skip
"""Element type -> number in TensorDescriptor.dtype. (The C++ numbering of `dt` attributes differs; none is written.)"""

STRING_TYPE, OBJECT_TYPE = 13, 26
"""TensorDescriptor.dtype of what is no tensor of numbers: DT_STRING, DT_VARIANT."""

DATA_TYPE_NAME: dict[int, str] = {number: name for name, number in DATA_TYPE.items()}
"""The inverse of `DATA_TYPE`."""

_SCALARS = {
    "float": descriptor_pb2.FieldDescriptorProto.TYPE_FLOAT,
    "int64": descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
    "uint64": descriptor_pb2.FieldDescriptorProto.TYPE_UINT64,
    "uint32": descriptor_pb2.FieldDescriptorProto.TYPE_UINT32,
    "bool": descriptor_pb2.FieldDescriptorProto.TYPE_BOOL,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
}
_ENUMS = {"DataType": ".ge.proto.DataType", "ListValueType": ".ge.proto.AttrDef.ListValue.ListValueType"}


def _set_type(field: descriptor_pb2.FieldDescriptorProto, package: str, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    elif kind in _ENUMS:
        field.type = descriptor_pb2.FieldDescriptorProto.TYPE_ENUM
        field.type_name = _ENUMS[kind]
    else:
        field.type = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{package}.{kind}"


def _add_map(proto: descriptor_pb2.DescriptorProto, package: str, path: str, name: str, value: str) -> str:
    """Add the entry message of a map<string, value> field and return its path."""
    entry = proto.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
    entry.options.map_entry = True
    for number, (part, kind) in enumerate((("key", "string"), ("value", value)), start=1):
        field = entry.field.add(name=part, number=number, label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL)
        _set_type(field, package, kind)
    return f"{path}.{entry.name}"


def _file(name: str, package: str, table: dict[str, str]) -> descriptor_pb2.FileDescriptorProto:
    """A file descriptor for a table of messages; outer messages stand before the inner ones."""
    file = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
    built: dict[str, descriptor_pb2.DescriptorProto] = {}
    for path, fields in table.items():
        outer, _, last = path.rpartition(".")
        proto = built[path] = (built[outer].nested_type if outer else file.message_type).add(name=last)
        for spec in fields.split(", "):
            field_name, number, kind = spec.split()
            field = proto.field.add(name=field_name, number=int(number))
            field.label = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
            if kind.endswith("*"):
                field.label = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
            elif kind.endswith("?"):
                if not proto.oneof_decl:
                    proto.oneof_decl.add(name="value")
                field.oneof_index = 0
            elif kind.startswith("map:"):
                field.label = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
                kind = _add_map(proto, package, path, field_name, kind.removeprefix("map:"))
            _set_type(field, package, kind.rstrip("*?"))
    return file


def _build() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    ge = _file("ge_ir.proto", "ge.proto", _GE)
    data_type = ge.enum_type.add(name="DataType")
    for number, name in enumerate(_DATA_TYPES):
        data_type.value.add(name=name, number=number)
    attr_def = next(m for m in ge.message_type if m.name == "AttrDef")
    list_value = next(m for m in attr_def.nested_type if m.name == "ListValue")
    value_type = list_value.enum_type.add(name="ListValueType")
    for number, name in enumerate(_LIST_VALUE_TYPES):
        value_type.value.add(name=name, number=number)
    pool.Add(ge)
    pool.Add(_file("task.proto", "domi", _DOMI))
    return pool


_POOL = _build()


def _class(name: str) -> MessageClass:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(name))


ModelDef: MessageClass = _class("ge.proto.ModelDef")
AttrDef: MessageClass = _class("ge.proto.AttrDef")
ModelTaskDef: MessageClass = _class("domi.ModelTaskDef")
DecodeError = message.DecodeError
