"""The standard ONNX backend interface (`onnx.backend.base`), for tools and test suites that speak it.

    import gecc.backend

    rep = gecc.backend.prepare(model)  # a ModelProto
    y, = rep.run([x])

A model whose inputs have fixed shapes is compiled by `prepare`. One with open dimensions, or with inputs that decide
shapes (the target of a Reshape), is compiled at the first run, for the shapes and deciding values it is given, and
again whenever these change; every version is kept. Each version goes through the bytes of its om file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from ml_dtypes import bfloat16
from onnx import ModelProto, NodeProto, TensorProto, TypeProto
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from gecc.errors import InputError, InvalidModelError, ShapeError, UnsupportedError
from gecc.frontend.onnx.deciding import deciding_inputs
from gecc.om.records import HostTask

if TYPE_CHECKING:
    from gecc.runtime.cpus import Affinity
    from gecc.runtime.executor import Executor

__all__ = ["GeccBackend", "GeccRep", "prepare", "run_model", "run_node", "supports_device"]

Inputs = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What `prepare` takes beside the model."""

    no_host: bool = False
    """Whether everything must run as native code, and what cannot be compiled is refused."""
    opt_level: str | int = "O2"
    target: str = "host"
    threads: int | None = None
    affinity: Affinity = "auto"


class GeccRep(BackendRep):
    """A model ready to run. It compiles when it meets new shapes or new values of inputs that decide shapes."""

    def __init__(self, model: ModelProto, options: Options) -> None:
        """Compile at once when nothing is left to know. Raises as `prepare` does."""
        self._model = model
        self._options = options
        graph = model.graph
        self._every = [i.name for i in graph.input]
        given = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
        self._required = [name for name in self._every if name not in given]
        self._outputs = [o.name for o in graph.output]
        self._deciding = deciding_inputs(graph)
        self._versions: dict[tuple[Any, ...], Executor] = {}
        self._kinds = {i.name: i.type for i in graph.input}
        shapes = {i.name: _fixed_shape(i) for i in graph.input if i.name in self._required}
        if not self._deciding and None not in shapes.values():
            self._version({n: s for n, s in shapes.items() if s is not None}, {})

    def run(self, inputs: Inputs, **kwargs: Any) -> tuple[Any, ...]:
        """Run on arrays in the order of the graph's inputs (initializers left out, or all), or by name. A sequence is a
        list, an empty optional None.

        Returns the outputs in order, as a tuple that can also be indexed by name. Raises InputError for wrong inputs,
        BackendIsNotSupposedToImplementIt when these inputs lead to what gecc cannot compile.
        """
        if kwargs:
            raise InputError(f"run takes no {', '.join(sorted(kwargs))}")
        values = self._named(inputs)
        fixed = {n: a for n, a in values.items() if _is_native(a) and (n in self._deciding or n not in self._required)}
        rest = {n: a for n, a in values.items() if n not in fixed}
        executor = self._version({n: a.shape for n, a in rest.items() if isinstance(a, np.ndarray)}, fixed)
        # the runtime has no bfloat16 of its own: it takes and gives the bits
        tensors = {i.name for i in executor.inputs if i.slot < 0}
        results = executor.run(
            {n: a.view(np.uint16) if n in tensors and a.dtype == bfloat16 else a for n, a in rest.items()}
        )
        brain = {o.name for o in executor.outputs if o.dtype == "bf16"}
        values = [results[n].view(bfloat16) if n in brain else results[n] for n in self._outputs]
        return namedtupledict("Outputs", self._outputs)(*values)

    @property
    def on_host(self) -> str:
        """The operators that run on the host in what was compiled so far, separated by commas; empty: none."""
        found = {t.label for e in self._versions.values() for t in e.model.tasks if isinstance(t, HostTask)}
        return ", ".join(sorted(found))

    def _named(self, inputs: Inputs) -> dict[str, Any]:
        if not isinstance(inputs, Mapping):
            names = self._every if len(inputs) == len(self._every) else self._required
            if len(inputs) != len(names):
                raise InputError(f"{len(inputs)} inputs given, expected {len(names)}: {', '.join(names)}")
            inputs = dict(zip(names, inputs, strict=True))
        missing = [n for n in self._required if n not in inputs]
        unknown = [n for n in inputs if n not in self._every]
        if missing or unknown:
            raise InputError(f"inputs missing: {missing}, unknown: {unknown}; expected {self._required}")
        return {name: _value(value, self._kinds[name]) for name, value in inputs.items()}

    def _version(self, shapes: Mapping[str, tuple[int, ...]], fixed: Mapping[str, np.ndarray]) -> Executor:
        """The executor for inputs of these shapes, with `fixed` inputs as constants."""
        key = (*sorted(shapes.items()), *((n, a.dtype, a.shape, a.tobytes()) for n, a in sorted(fixed.items())))
        if key not in self._versions:
            self._versions[key] = _compiled(_specialised(self._model, shapes, fixed), self._options)
        return self._versions[key]


class GeccBackend(Backend):
    """Compiles ONNX models to native code of this machine's CPU."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> GeccRep:
        """Make a model ready to run. Options are the fields of `Options`.

        Raises BackendIsNotSupposedToImplementIt (with the text of UnsupportedError) for a model or device that gecc
        does not support, InvalidModelError for one that breaks the standard, InputError for an unknown option.
        """
        if not cls.supports_device(device):
            raise BackendIsNotSupposedToImplementIt(f"device '{device}' is not supported, expected CPU")
        known = [f.name for f in fields(Options)]
        if unknown := sorted(set(kwargs) - set(known)):
            raise InputError(f"unknown options {unknown}, expected {known}")
        return GeccRep(model, Options(**kwargs))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Inputs, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Prepare a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Inputs,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node on arrays: by name, or in the order of its inputs (those left out are left out here too).

        `outputs_info` gives the outputs' types where the standard's inference cannot; `opset_version` the opset, by
        default the newest. Other options are those of `prepare`.
        """
        version = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        names = [name for name in node.input if name]
        values = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
        arrays = {name: _given(values[name]) for name in dict.fromkeys(names)}
        model = _model_of(node, arrays, outputs_info, version)
        return cls.run_model(model, arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether code can be made for a device: CPUs alone."""
        return device.split(":")[0] == "CPU"


def _fixed_shape(info: onnx.ValueInfoProto) -> tuple[int, ...] | None:
    """The shape of an input when the model fixes it, else None."""
    kind = info.type.tensor_type
    if info.type.WhichOneof("value") != "tensor_type":
        return ()  # refused by the importer, which says why
    if not kind.HasField("shape") or not all(d.HasField("dim_value") for d in kind.shape.dim):
        return None
    return tuple(d.dim_value for d in kind.shape.dim)


def _value(value: Any, kind: TypeProto) -> Any:
    """A value as the executor takes it: an array where the model declares a tensor, else the object as it is."""
    return np.asarray(value) if kind.WhichOneof("value") == "tensor_type" else value


def _given(value: Any) -> Any:
    """A value of a node's input: sequences and empty optionals as they are."""
    return value if isinstance(value, list | tuple) or value is None else np.asarray(value)


def _is_native(value: Any) -> bool:
    """Whether a value can be an initializer: a tensor, not of strings."""
    return isinstance(value, np.ndarray) and value.dtype.kind not in "OUST"


def _specialised(
    model: ModelProto, shapes: Mapping[str, tuple[int, ...]], fixed: Mapping[str, np.ndarray]
) -> ModelProto:
    """A copy of `model` whose inputs have these shapes, those `fixed` being initializers."""
    result = ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    overridden = [t for t in graph.initializer if t.name not in fixed]
    del graph.initializer[:]
    graph.initializer.extend(overridden)
    for info in graph.input:
        kind = info.type.tensor_type
        if info.name in fixed:
            array = fixed[info.name]
            declared = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            if array.dtype != declared:
                raise InputError(f"input '{info.name}' has dtype {array.dtype}, expected {declared}")
            graph.initializer.append(onnx.numpy_helper.from_array(array, info.name))
        shape = fixed[info.name].shape if info.name in fixed else shapes.get(info.name)
        if shape is None or info.type.WhichOneof("value") != "tensor_type":
            continue
        if kind.HasField("shape"):
            _check_shape(info, shape)
        del kind.shape.dim[:]
        kind.shape.SetInParent()
        for size in shape:
            kind.shape.dim.add().dim_value = size
    return result


def _check_shape(info: onnx.ValueInfoProto, shape: tuple[int, ...]) -> None:
    declared = info.type.tensor_type.shape.dim
    agree = all(not d.HasField("dim_value") or d.dim_value == s for d, s in zip(declared, shape, strict=False))
    if len(declared) != len(shape) or not agree:
        spelled = [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in declared]
        raise InputError(f"input '{info.name}' has shape {list(shape)}, the model declares {spelled}")


def _compiled(model: ModelProto, options: Options) -> Executor:
    """Compile, write the om, read it back."""
    from gecc.api import compile
    from gecc.om.reader import from_bytes
    from gecc.runtime.executor import Executor
    from gecc.runtime.runnable import SUPPORTED_ABIS

    try:
        host = "forbid" if options.no_host else "allow"
        made = compile(model, opt_level=options.opt_level, target=options.target, host=host)
    except (UnsupportedError, ShapeError) as error:  # a shape that depends on data cannot be compiled either
        raise BackendIsNotSupposedToImplementIt(f"{type(error).__name__}: {error}") from error
    om = from_bytes(made.to_bytes(), verify="full", abi=SUPPORTED_ABIS)
    return Executor(om, threads=options.threads, affinity=options.affinity, verified=True)


def _type_of(name: str, value: Any) -> TypeProto:
    """The type of an input from its value: sequences are typed by their first element."""
    helper = onnx.helper
    if isinstance(value, np.ndarray):
        kind = helper.np_dtype_to_tensor_dtype(value.dtype) if value.dtype.kind != "U" else TensorProto.STRING
        return helper.make_tensor_type_proto(kind, value.shape)
    if isinstance(value, list | tuple) and value:
        return helper.make_sequence_type_proto(_type_of(name, np.asarray(value[0])))
    raise InputError(
        f"input '{name}' is {value!r}, of which no type can be told", hint="make a model and use run_model"
    )


def _model_of(
    node: NodeProto,
    arrays: Mapping[str, Any],
    outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None,
    version: int,
) -> ModelProto:
    """A model of one node on inputs like `arrays`."""
    helper = onnx.helper
    inputs = [onnx.ValueInfoProto(name=name, type=_type_of(name, value)) for name, value in arrays.items()]
    names = [name for name in node.output if name]
    if outputs_info is not None:
        kinds = [(helper.np_dtype_to_tensor_dtype(np.dtype(t)), list(s)) for t, s in outputs_info]
        outputs = [helper.make_tensor_value_info(n, t, s) for n, (t, s) in zip(names, kinds, strict=True)]
    else:
        outputs = [onnx.ValueInfoProto(name=name) for name in names]
    opset = helper.make_opsetid(node.domain, version)
    graph = helper.make_graph([node], node.op_type, inputs, outputs)
    model = helper.make_model(graph, opset_imports=[opset])
    if outputs_info is None:
        values = [onnx.numpy_helper.from_array(a, n) for n, a in arrays.items() if isinstance(a, np.ndarray)]
        probe = ModelProto()
        probe.CopyFrom(model)
        probe.graph.initializer.extend(values)  # values decide shapes and ranks
        inferred = onnx.shape_inference.infer_shapes(probe, data_prop=True)
        for output, found in zip(graph.output, inferred.graph.output, strict=True):
            kind = found.type.tensor_type
            known = kind.elem_type != TensorProto.UNDEFINED and kind.HasField("shape")
            if not known and found.type.WhichOneof("value") in (None, "tensor_type"):
                raise InvalidModelError(f"the type of output '{output.name}' is unknown", hint="give outputs_info")
        del model.graph.output[:]
        model.graph.output.extend(inferred.graph.output)
    return model


def prepare(model: ModelProto, device: str = "CPU", **kwargs: Any) -> GeccRep:
    """See `GeccBackend.prepare`."""
    return GeccBackend.prepare(model, device, **kwargs)


def run_model(model: ModelProto, inputs: Inputs, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
    """See `GeccBackend.run_model`."""
    return GeccBackend.run_model(model, inputs, device, **kwargs)


def run_node(node: NodeProto, inputs: Inputs, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
    """See `GeccBackend.run_node`."""
    return GeccBackend.run_node(node, inputs, device, **kwargs)


def supports_device(device: str) -> bool:
    """See `GeccBackend.supports_device`."""
    return GeccBackend.supports_device(device)
