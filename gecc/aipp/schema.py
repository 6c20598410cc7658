"""The messages of an AIPP configuration, built in code in a pool of their own."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

INPUT_FORMATS = (
    "UNDEFINED YUV420SP_U8 XRGB8888_U8 RGB888_U8 YUV400_U8 NC1HWC0DI_FP16 NC1HWC0DI_S8 ARGB8888_U8 YUYV_U8 YUV422SP_U8 "
    "AYUV444_U8 RAW10 RAW12 RAW16 RAW24 RGB16 RGB20 RGB24 RGB8_IR RGB16_IR RGB24_IR"
).split()
"""Values of `input_format`, by number."""

MODES = ("undefined", "static", "dynamic")

_FIELDS = (
    "aipp_mode 1 AippMode, related_input_rank 2 uint32, input_edge_idx 3 uint32*, max_src_image_size 4 uint32, "
    "support_rotation 5 bool, related_input_name 6 string, "
    "mean_chn_0 10 int32, mean_chn_1 11 int32, mean_chn_2 12 int32, "
    "min_chn_0 13 float, min_chn_1 14 float, min_chn_2 15 float, "
    "var_reci_chn_0 16 float, var_reci_chn_1 17 float, var_reci_chn_2 18 float, "
    "mean_chn_3 19 int32, min_chn_3 20 float, var_reci_chn_3 21 float, "
    "matrix_r0c0 30 int32, matrix_r0c1 31 int32, matrix_r0c2 32 int32, "
    "matrix_r1c0 33 int32, matrix_r1c1 34 int32, matrix_r1c2 35 int32, "
    "matrix_r2c0 36 int32, matrix_r2c1 37 int32, matrix_r2c2 38 int32, "
    "output_bias_0 39 int32, output_bias_1 40 int32, output_bias_2 41 int32, "
    "input_bias_0 42 int32, input_bias_1 43 int32, input_bias_2 44 int32, "
    "raw_rgbir_to_f16_n 45 int32, input_format 51 InputFormat, csc_switch 52 bool, cpadding_value 53 float, "
    "rbuv_swap_switch 54 bool, ax_swap_switch 55 bool, single_line_mode 56 bool, "
    "src_image_size_w 57 int32, src_image_size_h 58 int32, crop 59 bool, load_start_pos_w 60 int32, "
    "load_start_pos_h 61 int32, crop_size_w 62 int32, crop_size_h 63 int32, resize 64 bool, "
    "resize_output_w 65 int32, resize_output_h 66 int32, padding 67 bool, left_padding_size 68 int32, "
    "right_padding_size 69 int32, top_padding_size 70 int32, bottom_padding_size 71 int32"
)

NAMES: tuple[str, ...] = tuple(entry.split()[0] for entry in _FIELDS.split(", "))
"""Names of the fields of an aipp_op."""

_F = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "int32": _F.TYPE_INT32,
    "uint32": _F.TYPE_UINT32,
    "float": _F.TYPE_FLOAT,
    "bool": _F.TYPE_BOOL,
    "string": _F.TYPE_STRING,
}


@cache
def config_class() -> Any:
    """The class of a whole file: `aipp_op` repeated."""
    file = descriptor_pb2.FileDescriptorProto(name="gecc/aipp.proto", package="domi", syntax="proto2")
    params = file.message_type.add(name="AippOpParams")
    for name, values in (("InputFormat", INPUT_FORMATS), ("AippMode", MODES)):
        enum = params.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    for entry in _FIELDS.split(", "):
        name, number, kind = entry.split()
        repeated = kind.endswith("*")
        field = params.field.add(name=name, number=int(number))
        field.label = _F.LABEL_REPEATED if repeated else _F.LABEL_OPTIONAL
        if (scalar := _SCALARS.get(kind.removesuffix("*"))) is not None:
            field.type = scalar
        else:
            field.type, field.type_name = _F.TYPE_ENUM, f".domi.AippOpParams.{kind}"
    whole = file.message_type.add(name="InsertNewOps")
    whole.field.add(
        name="aipp_op", number=1, label=_F.LABEL_REPEATED, type=_F.TYPE_MESSAGE, type_name=".domi.AippOpParams"
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # pyright: ignore[reportAttributeAccessIssue]
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("domi.InsertNewOps"))
