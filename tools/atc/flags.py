"""The table of atc's flags: what each takes, and whether it is followed, ignored with a warning, or refused.

To add a flag, add a line here and read it in `gecc.tools.atc.build` (or where it belongs) as `command["name"]`, which
is its text, or None when it was not given and has no default. Values of a `takes` other than text are checked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class State(Enum):
    """What becomes of a flag that is given."""

    FOLLOWED = "followed"
    IGNORED = "ignored"
    """One line of warning says why; its value is not looked at."""
    REFUSED = "refused"
    """What it asks for would change the result, and is not done: an error."""


TEXT = "text"
SWITCH = "0 or 1"
TRUTH = "true or false"

Takes: TypeAlias = "str | tuple[str, ...]"
"""`TEXT`, `SWITCH`, `TRUTH`, or the values allowed."""


@dataclass(frozen=True)
class Flag:
    """One flag, `--name=value`."""

    name: str
    syntax: str
    """The value as help shows it."""
    help: str
    """What it does; of an ignored flag, why it has no effect here; of a refused one, why that is so."""
    takes: Takes = TEXT
    default: str | None = None
    state: State = State.FOLLOWED
    sample: str | None = None
    """A value that messages show."""


def _ignored(why: str, *names: str) -> Iterator[Flag]:
    return (Flag(name, "...", why, state=State.IGNORED) for name in names)


def _refused(why: str, *names: str) -> Iterator[Flag]:
    return (Flag(name, "...", why, state=State.REFUSED) for name in names)


PRECISION_MODES = (
    "force_fp16",
    "force_fp32",
    "cube_fp16in_fp32out",
    "allow_mix_precision",
    "allow_mix_precision_fp16",
    "allow_mix_precision_bf16",
    "allow_fp32_to_fp16",
    "must_keep_origin_dtype",
)
PRECISION_MODES_V2 = ("fp16", "origin", "cube_fp16in_fp32out", "mixed_float16", "mixed_bfloat16", "mixed_hif8")
"""Values of --precision_mode and of --precision_mode_v2, which `gecc.precision.find_mode` knows."""

_NO_CHIP = "the om is for a CPU"
_STATIC = "every shape is known when the om is made"

GROUPS: dict[str, tuple[Flag, ...]] = {
    "model in and out": (
        Flag(
            "mode",
            "0|1|3|5|6",
            "0: make an om; 1: an om or a model as JSON; 3: only check whether the model can be compiled; 5: a dumped "
            "graph as JSON; 6: what an om holds",
            ("0", "1", "3", "5", "6", "30"),
            "0",
        ),
        Flag("model", "FILE", "the ONNX model", sample="net.onnx"),
        Flag("framework", "5", "what the model is: 5, ONNX, is read", ("0", "1", "3", "5"), sample="5"),
        Flag("output", "PATH", "the om to write, without .om", sample="net"),
        Flag("om", "FILE", "with modes 1, 5 and 6: the om, or the dumped graph", sample="net.om"),
        Flag("json", "FILE", "with modes 1 and 5: the JSON to write", sample="net.json"),
        Flag("dump_mode", "0|1", "with mode 1 and a model: 1 adds the inferred shapes", SWITCH, "0"),
        Flag(
            "input_format",
            "FORMAT",
            "NCHW, NCDHW, ND: as ONNX has it; others are refused",
            ("NCHW", "NHWC", "ND", "NCDHW", "NDHWC"),
            sample="NCHW",
        ),
        Flag("input_shape", "SHAPES", "sizes of the inputs: 'x:1,3,224,224;y:2,4'", sample="x:1,3,224,224"),
        Flag(
            "dynamic_batch_size",
            "SIZES",
            "an om for several batch sizes, of which each run takes the one that its inputs have; --input_shape has -1 first",
            sample="1,2,4,8",
        ),
        Flag(
            "dynamic_image_size",
            "SIZES",
            "the same for height and width of images; --input_shape has -1 for both",
            sample="224,224;448,448",
        ),
        Flag(
            "dynamic_dims",
            "DIMS",
            "the same for every -1 in --input_shape, in order; with --input_format=ND",
            sample="1,128;8,128",
        ),
        Flag("out_nodes", "NODES", "the outputs, in order: 'node:0;node:1', or names of tensors", sample="node:0"),
        Flag(
            "output_type",
            "TYPES",
            "the element type of all outputs, FP32, FP16, UINT8, INT8 and others; or of some: 'node:0:FP16;name:FP32'",
            sample="FP16",
        ),
        Flag("input_fp16_nodes", "NAMES", "inputs that are f16: 'a;b'", sample="a;b"),
        Flag(
            "insert_op_conf",
            "FILE",
            "AIPP: inputs that are pictures of bytes, and how to prepare them",
            sample="aipp.cfg",
        ),
        Flag("check_report", "FILE", "where mode 3 writes its findings", default="check_result.json"),
        Flag(
            "external_weight",
            "0|1|2",
            "1 or 2: weights in one file beside the om, which models with the same weights share",
            ("0", "1", "2"),
            "0",
        ),
        *_refused("single operators are compiled from a model that holds them", "singleop"),
        *_refused("weights of Caffe; those of ONNX are in the model, or found by it", "weight"),
        *_ignored(f"it is deprecated, and {_STATIC}; --input_shape says it", "input_shape_range"),
        *_ignored("inputs keep the layout of the model", "is_input_adjust_hw_layout"),
        *_ignored("outputs keep the layout of the model", "is_output_adjust_hw_layout"),
        *_ignored("operators of ONNX are known by their domain and type", "op_name_map"),
        *_ignored("gecc-translate NET.onnx -o NET.mlir writes the graph as read", "save_original_model"),
        *_ignored("the om is for the system that it is made on", "host_env_os"),
        *_ignored("the om names its CPU itself; see --target", "host_env_cpu"),
    ),
    "target and compile mode": (
        Flag(
            "soc_version", "NAME", "accepted and noted; the om is for a CPU, --target says which", sample="Ascend310P3"
        ),
        *_ignored(_NO_CHIP, "core_type", "virtual_type", "device_id"),
        *_ignored(f"{_NO_CHIP}, whose cores are counted when the om is loaded", "aicore_num"),
        *_ignored("everything is compiled ahead of time", "jit_compile"),
        *_ignored(_STATIC, "shape_generalized_build_mode", "tiling_schedule_optimize", "static_model_ops_lower_limit"),
        *_ignored("tasks are run in one order in any case, see gecc-run --threads", "enable_single_stream"),
        *_ignored("what it chooses is decided by the compiler", "ac_parallel_enable"),
        *_ignored(f"{_NO_CHIP}: nothing is copied to a device", "h2d_overlapped_with_compute"),
        *_ignored("attributes in an om are not compressed", "enable_attr_compression"),
        *_ignored("there is no GE to pass options to", "raw_ge_options", "raw_ge_options_ignore_unsupported"),
        *_refused("models for several cards are not made", "cluster_config", "hccl_sub_comm_config"),
    ),
    "precision": (
        Flag(
            "precision_mode",
            "MODE",
            "the element types to compute in: force_fp16; force_fp32; allow_fp32_to_fp16: products in f16; "
            "cube_fp16in_fp32out: the same with results of f32; allow_mix_precision: by lists; must_keep_origin_dtype: "
            "the model's, as without the flag",
            PRECISION_MODES,
            sample="force_fp16",
        ),
        Flag(
            "precision_mode_v2",
            "MODE",
            "the same under newer names: fp16, origin, cube_fp16in_fp32out, mixed_float16, mixed_bfloat16",
            PRECISION_MODES_V2,
            sample="fp16",
        ),
        Flag("modify_mixlist", "FILE", "JSON that puts operators on other lists of mixed modes", sample="lists.json"),
        Flag("keep_dtype", "FILE", "nodes, or OpType::Type, that keep their element types", sample="keep.cfg"),
        Flag(
            "customize_dtypes",
            "FILE",
            "element types by hand: name::InputDtype:float16,OutputDtype:float32, a line each; wins over --keep_dtype",
            sample="types.cfg",
        ),
        Flag(
            "is_weight_clip",
            "0|1",
            "1: weights beyond the range of f16 take its greatest value; 0: they become infinite",
            SWITCH,
            "1",
        ),
        Flag(
            "op_select_implmode",
            "MODE",
            "accepted; an operator has one implementation, which is precise",
            ("high_precision", "high_performance", "high_precision_for_all", "high_performance_for_all"),
            sample="high_precision",
        ),
        *_ignored("an operator has one implementation, which is precise", "op_precision_mode"),
        *_ignored("it is deprecated", "optypelist_for_implmode"),
        *_ignored("the CPU has no such type", "allow_hf32"),
        *_ignored("results are always deterministic", "deterministic", "deterministic_level"),
        *_ignored("overflow follows the rules of floating point", "status_check"),
        *_ignored("dumps show the graph as it is", "quant_dumpable"),
        *_ignored("weights are kept in full", "sparsity", "enable_compress_weight", "compress_weight_conf"),
        *_ignored("weights are not quantised; a quantised ONNX model is compiled as such", "compression_optimize_conf"),
    ),
    "optimisation": (
        Flag(
            "fusion_switch_file", "FILE", "which passes and fusions are on or off, by name", sample="fusion_switch.cfg"
        ),
        Flag("optimization_switch", "SWITCHES", "the same on the command line: 'Pass:on;Pass:off'", sample="cse:off"),
        Flag("oo_level", "O1|O3", "O1: as -O1; O3: as -O2, everything", ("O0", "O1", "O2", "O3"), "O3"),
        Flag("oo_constant_folding", "true|false", "whether constants are computed ahead", TRUTH, "true"),
        Flag("oo_dead_code_elimination", "true|false", "whether what nobody uses goes", TRUTH, "true"),
        Flag("disable_reuse_memory", "0|1", "1: every buffer gets bytes of its own, to look for errors", SWITCH, "0"),
        *_ignored("patterns are found without being named", "enable_scope_fusion_passes"),
        *_ignored("the order of launches is chosen for little memory", "topo_sorting_mode"),
        *_ignored("what it chooses is decided by the compiler", "buffer_optimize", "enable_small_channel"),
        *_ignored("no memory is cleaned for kernels", "atomic_clean_policy"),
        *_ignored("kernels are chosen by rules, not from a tuning repository", "mdl_bank_path", "op_bank_path"),
        *_ignored("kernels are chosen by rules, not tuned", "auto_tune_mode"),
    ),
    "debugging": (
        Flag(
            "log",
            "LEVEL",
            "what is told on stderr while compiling: debug, info, warning, error or null",
            ("debug", "info", "warning", "error", "null"),
            "null",
        ),
        Flag(
            "op_debug_level",
            "0..4",
            "from 1 on, kernels as text into --debug_dir; 2 also does without fusion",
            ("0", "1", "2", "3", "4"),
            "0",
        ),
        Flag("debug_dir", "FOLDER", "where --op_debug_level writes to", default="./kernel_meta"),
        Flag("display_model_info", "0|1", "1: print what the om holds when it is made", SWITCH, "0"),
        Flag(
            "export_compile_stat",
            "0|1|2",
            "1, 2: write fusion_result.json, which fusions matched how often; 0: do not",
            ("0", "1", "2"),
            "1",
        ),
        *_ignored("there is nothing to configure in kernels", "op_debug_config"),
        *_ignored("kernels are compiled anew", "op_compiler_cache_mode", "op_compiler_cache_dir"),
    ),
}
"""All flags, as help groups them."""

FLAGS: dict[str, Flag] = {flag.name: flag for group in GROUPS.values() for flag in group}
"""All flags by name."""
