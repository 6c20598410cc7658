"""The table of atc's flags: what each takes, and whether it is followed, ignored with a warning, or refused.

To add a flag, add a line here and read it in `gecc.tools.atc.build` (or where it belongs) as `command["name"]`, which
is its text, or None when it was not given and has no default. Values of a `takes` other than text are checked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from gecc.tools.atc.modes import IMPLEMENTATIONS, NEW_MODES, OLD_MODES


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


def _ignored(name: str, why: str) -> Flag:
    return Flag(name, "...", why, state=State.IGNORED)


def _refused(name: str, syntax: str, why: str) -> Flag:
    return Flag(name, syntax, why, state=State.REFUSED)


_NOT_YET = "it is not supported yet"
_NO_CHIP = "the om is for a CPU"
_ALWAYS = "what it chooses is decided by the compiler"
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
        _refused("singleop", "FILE", "single operators are compiled from a model that holds them"),
        _refused("weight", "FILE", "weights of Caffe; those of ONNX are in the model, or found by it"),
        _ignored("input_shape_range", f"it is deprecated, and {_STATIC}; --input_shape says it"),
        _ignored("is_input_adjust_hw_layout", "inputs keep the layout of the model"),
        _ignored("is_output_adjust_hw_layout", "outputs keep the layout of the model"),
        _ignored("op_name_map", "operators of ONNX are known by their domain and type"),
        _ignored("save_original_model", "gecc-translate NET.onnx -o NET.mlir writes the graph as read"),
        _ignored("host_env_os", "the om is for the system that it is made on"),
        _ignored("host_env_cpu", "the om names its CPU itself; see --target"),
    ),
    "target and compile mode": (
        Flag(
            "soc_version", "NAME", "accepted and noted; the om is for a CPU, --target says which", sample="Ascend310P3"
        ),
        _ignored("core_type", _NO_CHIP),
        _ignored("aicore_num", f"{_NO_CHIP}, whose cores are counted when the om is loaded"),
        _ignored("virtual_type", _NO_CHIP),
        _ignored("device_id", _NO_CHIP),
        _ignored("jit_compile", "everything is compiled ahead of time"),
        _ignored("shape_generalized_build_mode", _STATIC),
        _ignored("enable_single_stream", "tasks are run in one order in any case, see gecc-run --threads"),
        _ignored("ac_parallel_enable", _ALWAYS),
        _ignored("tiling_schedule_optimize", _STATIC),
        _ignored("h2d_overlapped_with_compute", f"{_NO_CHIP}: nothing is copied to a device"),
        _ignored("static_model_ops_lower_limit", _STATIC),
        _ignored("enable_attr_compression", "attributes in an om are not compressed"),
        _ignored("raw_ge_options", "there is no GE to pass options to"),
        _ignored("raw_ge_options_ignore_unsupported", "there is no GE to pass options to"),
        _refused("cluster_config", "FILE", "models for several cards are not made"),
        _refused("hccl_sub_comm_config", "FILE", "models for several cards are not made"),
    ),
    "precision": (
        Flag(
            "precision_mode",
            "MODE",
            "the element types to compute in: force_fp16; force_fp32; allow_fp32_to_fp16: products in f16; "
            "cube_fp16in_fp32out: the same with results of f32; allow_mix_precision: by lists; must_keep_origin_dtype: "
            "the model's, as without the flag",
            OLD_MODES,
            sample="force_fp16",
        ),
        Flag(
            "precision_mode_v2",
            "MODE",
            "the same under newer names: fp16, origin, cube_fp16in_fp32out, mixed_float16, mixed_bfloat16",
            NEW_MODES,
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
            IMPLEMENTATIONS,
            sample="high_precision",
        ),
        _ignored("op_precision_mode", "an operator has one implementation, which is precise"),
        _ignored("optypelist_for_implmode", "it is deprecated"),
        _ignored("allow_hf32", "the CPU has no such type"),
        _ignored("deterministic", "results are always deterministic"),
        _ignored("deterministic_level", "results are always deterministic"),
        _ignored("status_check", "overflow follows the rules of floating point"),
        _ignored("quant_dumpable", "dumps show the graph as it is"),
        _ignored("sparsity", "weights are kept in full"),
        _ignored("compression_optimize_conf", "weights are not quantised; a quantised ONNX model is compiled as such"),
        _ignored("enable_compress_weight", "weights are kept in full"),
        _ignored("compress_weight_conf", "weights are kept in full"),
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
        _ignored("enable_scope_fusion_passes", "patterns are found without being named"),
        _ignored("topo_sorting_mode", "the order of launches is chosen for little memory"),
        _ignored("buffer_optimize", _ALWAYS),
        _ignored("enable_small_channel", _ALWAYS),
        _ignored("atomic_clean_policy", "no memory is cleaned for kernels"),
        _ignored("mdl_bank_path", "kernels are chosen by rules, not from a tuning repository"),
        _ignored("op_bank_path", "kernels are chosen by rules, not from a tuning repository"),
        _ignored("auto_tune_mode", "kernels are chosen by rules, not tuned"),
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
        _ignored("op_debug_config", "there is nothing to configure in kernels"),
        _ignored("op_compiler_cache_mode", "kernels are compiled anew"),
        _ignored("op_compiler_cache_dir", "kernels are compiled anew"),
    ),
}
"""All flags, as help groups them."""

FLAGS: dict[str, Flag] = {flag.name: flag for group in GROUPS.values() for flag in group}
"""All flags by name."""
