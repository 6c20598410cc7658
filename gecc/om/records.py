"""What an om file says, as plain records: the meeting point of compiler, container and runtime.

Standard library only. All sizes and offsets are bytes, all records but `OmModel` and `Weights` are immutable.
Element types are spelled as in the IR: f32 f64 f16 bf16, i8 i16 i32 i64 (signed), ui8 ui16 ui32 ui64, i1 (bool, one
byte an element).
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, TypeAlias

SCHEMA = 5
"""Version of this module's encoding in the container. A reader refuses a greater one. 2 added jumps, host calls and the bond,
3 gears, 4 portable kernels, 5 products of i16 with i8 and in pairs to these."""

SCHEMA_OF_BONDS = 2
"""The first encoding in which kernels are bound to their tasks."""

SCHEMA_OF_GEARS = 3
"""The first encoding that has gears."""

SCHEMA_OF_PORTABLE = 4
"""The first encoding that has portable kernels."""

SCHEMA_OF_PAIRS = 5
"""The first encoding whose portable kernels may multiply i16 with i8, and in pairs."""

ALIGNMENT = 64
"""Alignment of the arena's base and of the weights' base in memory."""

WEIGHT_ALIGNMENT = 512
"""Every weight starts at a multiple of this in WEIGHTS_DATA, the first at this very offset (0 means "no offset")."""

ITEMSIZE: dict[str, int] = {
    "f32": 4, "f64": 8, "f16": 2, "bf16": 2,
    "i8": 1, "i16": 2, "i32": 4, "i64": 8,
    "ui8": 1, "ui16": 2, "ui32": 4, "ui64": 8,
    "i1": 1,
}  # fmt: skip
"""Bytes of one element of each element type."""

MAX_RANK = 32
"""Most dimensions of an array: what every numpy can hold."""

INT64 = range(-(1 << 63), 1 << 63)
"""What an integer attribute or parameter can be."""

RESERVED_TYPES = ("Data", "Const", "NetOutput")
"""Operators by which the container spells inputs, weights and outputs; no node may have one as its type."""

KernelForm: TypeAlias = Literal["native", "portable"]
"""What an om holds of its kernels: machine code for its target, or tile IR that is checked and compiled where it is loaded."""

Buffer: TypeAlias = bytes | bytearray | memoryview
Scalar: TypeAlias = bool | int | float | str
AttrValue: TypeAlias = (
    Scalar | tuple[bool, ...] | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | tuple[tuple[int, ...], ...]
)
"""A value the container can hold and Netron shows. Ints are 64-bit. Floats are stored, and so read back, in single
precision. A tuple holds one kind of value; an empty tuple has no kind."""


class Space(IntEnum):
    """Where an operand lies."""

    ARENA = 0
    """The planned block of intermediates, allocated at load."""
    WEIGHTS = 1
    """WEIGHTS_DATA, mapped from the file, read only."""
    INPUT = 2
    """The caller's array for graph input `index`, read only."""
    OUTPUT = 3
    """The caller's array for graph output `index`."""
    GEAR = 4
    """The number of the run's gear, an integer of `GEAR_SIZE` bytes that the runtime writes; for a switch alone."""


@dataclass(frozen=True, slots=True)
class Operand:
    """`size` bytes at `offset` in a space. `index` is the number of the graph input or output, else 0."""

    space: Space
    offset: int
    size: int
    index: int = 0


@dataclass(frozen=True, slots=True)
class KernelTask:
    """One launch of a kernel over `blocks` blocks.

    kernel    name of a `KernelEntry`
    label     what users read: `MatMulV2Gelu`
    op_index  index in `OmModel.nodes` of the node this launch computes (its ONNX names serve messages and profiles)
    phase     tasks of one phase run in any order at once; phases run in order. Counted from 0 without holes
    blocks    extent of the block index, >= 0
    operands  memory arguments in the kernel's order: inputs, then outputs
    params    integer arguments (signed 64-bit) after the memory arguments
    n_outs    how many of the last operands are written
    """

    kernel: str
    label: str
    op_index: int
    phase: int
    blocks: int
    operands: tuple[Operand, ...]
    params: tuple[int, ...] = ()
    n_outs: int = 1

    @property
    def ins(self) -> tuple[Operand, ...]:
        """The operands that are only read."""
        return self.operands[: len(self.operands) - self.n_outs]

    @property
    def outs(self) -> tuple[Operand, ...]:
        """The operands that are written."""
        return self.operands[len(self.operands) - self.n_outs :]


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A place to jump to, number `number` of the model's labels. Does nothing itself."""

    number: int
    op_index: int
    phase: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"label {self.number}"


@dataclass(frozen=True, slots=True)
class GotoTask:
    """A jump to the label of number `target`."""

    target: int
    op_index: int
    phase: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"goto {self.target}"


@dataclass(frozen=True, slots=True)
class SwitchTask:
    """A jump to the label of number `targets[i]`, i the integer at `index`: of 1 byte (unsigned), 4 or 8 bytes (signed).

    Any other value of i is an error of the run.
    """

    index: Operand
    targets: tuple[int, ...]
    op_index: int
    phase: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return "switch"


SWITCH_SIZES = (1, 4, 8)
"""Bytes that the index of a switch may have."""

GEAR_SIZE = 8
"""Bytes of the number of a gear."""


@dataclass(frozen=True, slots=True)
class HostTensor:
    """An argument of a host call that lies in planned memory: a dense row-major array."""

    place: Operand
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HostObject:
    """An argument of a host call that is a Python object: in slot `slot` of the run, of ONNX type `type`."""

    slot: int
    type: str


HostValue: TypeAlias = HostTensor | HostObject


@dataclass(frozen=True, slots=True)
class HostTask:
    """A call of the host engine, for what has no native form.

    program is a serialised onnx.ModelProto in WEIGHTS, whose graph's inputs and outputs are `ins` and `outs`, in order.
    """

    label: str
    op_index: int
    phase: int
    program: Operand
    ins: tuple[HostValue, ...]
    outs: tuple[HostValue, ...]


Task: TypeAlias = KernelTask | LabelTask | GotoTask | SwitchTask | HostTask
"""Every kind of task there is. All but kernels are alone in their phase."""

_OBJECT = re.compile(r"(tensor|sparse_tensor|seq|map|optional)\([a-z0-9_(), ]+\)")


def is_object(dtype: str) -> bool:
    """Whether `dtype` is the ONNX type of a Python object ("seq(tensor(float))") and no element type."""
    return _OBJECT.fullmatch(dtype) is not None


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """A function of the kernel blob: `size` bytes of code at `offset`."""

    name: str
    offset: int
    size: int


def kernel_entries(symbols: Mapping[str, int], blob_size: int) -> tuple[KernelEntry, ...]:
    """Entries, ordered by offset then name, for a linked blob: each reaches to the next greater offset or the end."""
    ends = [*sorted(set(symbols.values())), blob_size]
    following = dict(itertools.pairwise(ends))
    order = sorted(symbols.items(), key=lambda item: (item[1], item[0]))
    return tuple(KernelEntry(name, at, following[at] - at) for name, at in order)


@dataclass(frozen=True, slots=True)
class Source:
    """Who makes a value: graph input, weight or node number `index`; `output` is which result of a node."""

    kind: str
    """ "input", "weight" or "node"."""
    index: int
    output: int = 0


@dataclass(frozen=True, slots=True)
class IoDesc:
    """A graph input or output: ONNX name, element type, static shape. `source` (outputs only) is what computes it.

    In a model with gears `shapes` are those of each gear, and `shape` has -1 where they differ.

    With a `slot` of 0 or more it is a Python object in that slot of the run: `dtype` is then its ONNX type, `shape` what
    is known of its extents (-1: unknown).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    source: Source | None = None
    slot: int = -1
    shapes: tuple[tuple[int, ...], ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of a dense array of this type, of the greatest in a model with gears; an object has none."""
        if self.slot >= 0:
            return 0
        return max(map(math.prod, self.shapes or (self.shape,))) * ITEMSIZE[self.dtype]


def joined_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """One shape for several of one rank: -1 where they differ."""
    return tuple(sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*shapes, strict=True))


@dataclass(frozen=True, slots=True)
class TensorDesc:
    """A node's result: logical shape (-1: unknown extent), layout of its bytes, and where it lies if it has a place.

    `dtype` is an element type, or the ONNX type of an object, which has shape ().
    """

    dtype: str
    shape: tuple[int, ...]
    layout: str = "ND"
    place: Operand | None = None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the optimised graph, for people (Netron), messages and profiles.

    name      need not be unique, may be empty
    type      the operator: `MatMulV2Gelu`, `ConvRelu`
    inputs    what it reads; None is an optional input that is absent
    outputs   its results
    onnx_names names of the ONNX nodes it was made from
    attrs     anything else
    """

    name: str
    type: str
    inputs: tuple[Source | None, ...]
    outputs: tuple[TensorDesc, ...]
    onnx_names: tuple[str, ...] = ()
    attrs: Mapping[str, AttrValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WeightEntry:
    """A constant in WEIGHTS_DATA: `size` bytes at `offset`. Packed ones carry their physical shape and layout name."""

    name: str
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]
    layout: str = "ND"


def place_weights(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Offsets in WEIGHTS_DATA for constants of these sizes in this order, and the size of the whole (0 if none)."""
    offsets: list[int] = []
    end = 0
    for size in sizes:
        start = max(WEIGHT_ALIGNMENT, -(-end // WEIGHT_ALIGNMENT) * WEIGHT_ALIGNMENT)
        offsets.append(start)
        end = start + size
    return offsets, end


def _nothing() -> Iterable[tuple[int, Buffer]]:
    return ()


def _zeros(count: int) -> Iterator[memoryview]:
    step = 1 << 16
    for at in range(0, count, step):
        yield memoryview(bytes(min(step, count - at)))


@dataclass(slots=True)
class Weights:
    """WEIGHTS_DATA: what is in it, and a way to get its bytes that never holds them twice.

    entries  ordered by offset
    size     bytes of the whole (0: no weights)
    chunks   called anew for each reading; yields (offset, bytes) in ascending order without overlap. Gaps are zero.
             Each buffer may be dropped as soon as the next is asked for
    view     all bytes at once, when they lie in memory or in a mapped file already (a model that was read: always)
    sha256   hex digest of all `size` bytes: the file's word for a model that was read, "" for one being built
    """

    entries: tuple[WeightEntry, ...] = ()
    size: int = 0
    chunks: Callable[[], Iterable[tuple[int, Buffer]]] = _nothing
    view: memoryview | None = None
    sha256: str = ""

    @staticmethod
    def of_view(entries: Iterable[WeightEntry], view: memoryview, sha256: str = "") -> Weights:
        """Weights whose bytes lie in `view` (one byte an element)."""
        return Weights(tuple(entries), view.nbytes, lambda: ((0, view),), view, sha256)

    def stream(self) -> Iterator[memoryview]:
        """All `size` bytes in order, gaps filled with zeros, in pieces; ValueError when `chunks` breaks its word."""
        at = 0
        for offset, data in self.chunks():
            whole = memoryview(data)
            if offset < at or whole.nbytes > self.size - offset:
                room = f"{at}..{self.size}"
                raise ValueError(f"weights chunk of {whole.nbytes} bytes at {offset}: expected it within {room}")
            yield from _zeros(offset - at)
            if whole.nbytes:  # a view with a zero extent cannot be cast
                yield whole.cast("B")
            at = offset + whole.nbytes
        yield from _zeros(self.size - at)

    def materialize(self) -> memoryview:
        """All bytes at once: `view`, or else a new buffer; ValueError when `chunks` breaks its word."""
        if self.view is not None:
            return self.view
        buffer = bytearray(self.size)
        at = 0
        for piece in self.stream():
            buffer[at : at + piece.nbytes] = piece
            at += piece.nbytes
        return memoryview(buffer)

    def digest(self) -> str:
        """SHA-256 of all bytes, in hex."""
        h = hashlib.sha256()
        for piece in self.stream():
            h.update(piece)
        return h.hexdigest()


@dataclass(slots=True)
class OmModel:
    """A compiled model.

    name           model name
    target         machine description it was compiled for (`x86-64-v4`)
    abi            version of the native calling convention (`gecc.runtime.abi.ABI`)
    inputs/outputs the graph's interface, in order
    nodes          the optimised graph, in execution order
    weights        constants
    portable       whether the kernels are tile IR, to be compiled where the model is loaded
    blob           machine code and read-only data of all kernels, one position-independent image; of a portable model the
                   text of their tile IR, one `tile.kernel` after the other
    kernels        the functions in `blob`, ordered by offset then name; of a portable model the places of their text
    dispatcher     name of the entry that runs the task table ("" when the blob has none)
    tasks          in execution order; phases ascend
    arena_bytes    size of the block for intermediates
    scratch_bytes  size of the scratch each rank needs
    slots          Python objects that a run holds beside the arena
    producer       compiler name and version
    attrs          anything else
    """

    name: str
    target: str
    abi: int
    inputs: tuple[IoDesc, ...] = ()
    outputs: tuple[IoDesc, ...] = ()
    nodes: Sequence[GraphNode] = ()
    weights: Weights = field(default_factory=Weights)
    blob: Buffer = b""
    kernels: tuple[KernelEntry, ...] = ()
    portable: bool = False
    dispatcher: str = ""
    tasks: tuple[Task, ...] = ()
    arena_bytes: int = 0
    scratch_bytes: int = 0
    slots: int = 0
    producer: str = "gecc"
    attrs: Mapping[str, AttrValue] = field(default_factory=dict)

    @property
    def phases(self) -> int:
        """Number of phases."""
        return self.tasks[-1].phase + 1 if self.tasks else 0
