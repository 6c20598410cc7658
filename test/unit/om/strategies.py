"""Any valid model, for property tests."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from gecc.errors import OmError
from gecc.om.overlaps import check_lives
from gecc.om.records import (
    INT64,
    ITEMSIZE,
    RESERVED_TYPES,
    AttrValue,
    GotoTask,
    GraphNode,
    HostObject,
    HostTask,
    HostTensor,
    HostValue,
    IoDesc,
    KernelTask,
    LabelTask,
    OmModel,
    Operand,
    Source,
    Space,
    SwitchTask,
    Task,
    TensorDesc,
    WeightEntry,
    Weights,
    kernel_entries,
    place_weights,
)

names = st.text(st.characters(codec="utf-8"), max_size=8)
ints = st.integers(INT64.start, INT64.stop - 1)
floats = st.floats(width=32, allow_nan=False)
keys = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=6).filter(
    lambda key: key != "index"
)


def _tuples(of: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(of, max_size=3).map(tuple)


rows = st.lists(_tuples(ints), min_size=1, max_size=3).map(tuple)
values: st.SearchStrategy[AttrValue] = st.one_of(
    *(st.booleans(), ints, floats, names, _tuples(st.booleans()), _tuples(ints), _tuples(floats), _tuples(names), rows)
)
attrs = st.dictionaries(keys, values, max_size=4)
dtypes = st.sampled_from(list(ITEMSIZE))
shapes = _tuples(st.integers(0, 4))
objects = st.sampled_from(["tensor(string)", "tensor(int64)", "seq(tensor(float))", "optional(seq(tensor(int64)))"])


@st.composite
def _weights(draw: st.DrawFn) -> Weights:
    kinds = draw(st.lists(st.tuples(names, dtypes, shapes, st.sampled_from(["ND", "NHWC"])), max_size=4))
    sizes = [IoDesc("", dtype, shape).nbytes for _, dtype, shape, _ in kinds]
    offsets, size = place_weights(sizes)
    entries = tuple(
        WeightEntry(name, at, n, dtype, shape, layout)
        for (name, dtype, shape, layout), at, n in zip(kinds, offsets, sizes, strict=True)
    )
    data = [draw(st.binary(min_size=n, max_size=n)) for n in sizes]
    return Weights(entries, size, lambda: list(zip(offsets, data, strict=True)))


@st.composite
def _operand(draw: st.DrawFn, sizes: list[tuple[Space, int, int]]) -> Operand:
    space, index, room = draw(st.sampled_from(sizes))
    offset = draw(st.integers(0, room))
    return Operand(space, offset, draw(st.integers(0, room - offset)), index)


@st.composite
def _nodes(draw: st.DrawFn, n_inputs: int, n_weights: int, sizes: list[tuple[Space, int, int]]) -> list[GraphNode]:
    sources = [Source("input", i) for i in range(n_inputs)] + [Source("weight", i) for i in range(n_weights)]
    nodes: list[GraphNode] = []
    for i in range(draw(st.integers(0, 4))):
        inputs = _tuples(st.sampled_from([None, *sources]))
        place = st.none() | _operand(sizes)
        unknown = _tuples(st.integers(-1, 4))
        result = st.builds(TensorDesc, dtypes, unknown, st.sampled_from(["ND", "NHWC", "ü"]), place)
        results = draw(_tuples(result | st.builds(TensorDesc, objects, st.just(()))))
        kind = draw(names.filter(lambda name: name and name not in RESERVED_TYPES))
        nodes.append(GraphNode(draw(names), kind, draw(inputs), results, draw(_tuples(names)), draw(attrs)))
        sources += [Source("node", i, o) for o in range(len(results))]
    return nodes


@st.composite
def _tasks(draw: st.DrawFn, n_nodes: int, kernels: list[str], sizes: list[tuple[Space, int, int]]) -> list[Task]:
    tasks: list[Task] = []
    if not n_nodes or not kernels:
        return tasks
    writable = [s for s in sizes if s[0] in (Space.ARENA, Space.OUTPUT)]
    for phase in range(draw(st.integers(0, 4))):
        ins = draw(_tuples(_operand(sizes)))
        outs = draw(_tuples(_operand(writable)))
        task = KernelTask(
            draw(st.sampled_from(kernels)),
            draw(names),
            draw(st.integers(0, n_nodes - 1)),
            phase,
            draw(st.integers(0, (1 << 32) - 1)),
            (*ins, *outs),
            draw(_tuples(ints)),
            len(outs),
        )
        # A second task of the phase that only reads can always run beside one that only reads.
        tasks += [task] if outs else [task, replace(task, label=draw(names))]
    return tasks


@st.composite
def _host_value(draw: st.DrawFn, slots: int, sizes: list[tuple[Space, int, int]]) -> HostValue:
    if slots and draw(st.booleans()):
        return HostObject(draw(st.integers(0, slots - 1)), draw(objects))
    space, index, room = draw(st.sampled_from(sizes))
    dtype = draw(dtypes)
    count = draw(st.integers(0, room // ITEMSIZE[dtype]))
    return HostTensor(Operand(space, 0, count * ITEMSIZE[dtype], index), dtype, (count,))


@st.composite
def _jumps(draw: st.DrawFn, phase: int, n_nodes: int, slots: int, sizes: list[tuple[Space, int, int]]) -> list[Task]:
    """Labels, jumps among them, and host calls, a phase each from `phase` on."""
    nodes = st.integers(0, n_nodes - 1)
    count = draw(st.integers(0, 3))
    numbers = st.integers(0, count - 1)
    tasks: list[Task] = [LabelTask(number, draw(nodes), 0) for number in draw(st.permutations(range(count)))]
    indices = [(s, i, room) for s, i, room in sizes if room >= 8]
    if count:
        tasks += draw(st.lists(st.builds(GotoTask, numbers, nodes, st.just(0)), max_size=2))
    if count and indices:
        space, index, _ = draw(st.sampled_from(indices))
        at = Operand(space, 0, draw(st.sampled_from([1, 4, 8])), index)
        targets = st.lists(numbers, min_size=1, max_size=3).map(tuple)
        tasks += draw(st.lists(st.builds(SwitchTask, st.just(at), targets, nodes, st.just(0)), max_size=1))
    room = next(room for space, _, room in sizes if space == Space.WEIGHTS)
    if room:
        program = Operand(Space.WEIGHTS, 0, draw(st.integers(1, room)))
        writable = [s for s in sizes if s[0] in (Space.ARENA, Space.OUTPUT)]
        ins, outs = _tuples(_host_value(slots, sizes)), _tuples(_host_value(slots, writable))
        call = st.builds(HostTask, names, nodes, st.just(0), st.just(program), ins, outs)
        tasks += draw(st.lists(call, max_size=2))
    order = draw(st.permutations(tasks))
    return [replace(task, phase=phase + i) for i, task in enumerate(order)]


def models() -> st.SearchStrategy[OmModel]:
    """A valid model of a few inputs, weights, nodes and phases, whose plan is sound."""
    return _models().filter(_is_sound)


def _is_sound(model: OmModel) -> bool:
    try:
        check_lives(model, "")
    except OmError:
        return False
    return True


@st.composite
def _models(draw: st.DrawFn) -> OmModel:
    slots = draw(st.integers(0, 3))
    io = st.builds(IoDesc, names, dtypes, shapes)
    if slots:
        extents = _tuples(st.integers(-1, 4))
        io |= st.builds(IoDesc, names, objects, extents, st.none(), st.integers(0, slots - 1))
    interface = st.lists(io, max_size=3, unique_by=lambda desc: desc.name)
    inputs, outputs = draw(interface), draw(interface)
    weights = draw(_weights())
    arena = draw(st.integers(0, 256))
    sizes = [(Space.ARENA, 0, arena), (Space.WEIGHTS, 0, weights.size)]
    sizes += [(Space.INPUT, i, desc.nbytes) for i, desc in enumerate(inputs)]
    sizes += [(Space.OUTPUT, i, desc.nbytes) for i, desc in enumerate(outputs)]
    nodes = draw(_nodes(len(inputs), len(weights.entries), sizes))
    sources = [Source("node", i, o) for i, node in enumerate(nodes) for o in range(len(node.outputs))]
    outputs = [replace(desc, source=draw(st.sampled_from([None, *sources]))) for desc in outputs]
    blob = draw(st.binary(max_size=64))
    symbols = draw(st.dictionaries(names.filter(bool), st.integers(0, len(blob) - 1), max_size=4)) if blob else {}
    dispatcher = draw(st.sampled_from(["", *symbols]))
    tasks = draw(_tasks(len(nodes), [name for name in symbols if name != dispatcher], sizes))
    abi = draw(st.integers(0, 5))
    if abi >= 2 and nodes:
        tasks += draw(_jumps(tasks[-1].phase + 1 if tasks else 0, len(nodes), slots, sizes))
    return OmModel(
        name=draw(names),
        target=draw(names),
        abi=abi,
        slots=slots,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        nodes=tuple(nodes),
        weights=weights,
        blob=blob,
        kernels=kernel_entries(symbols, len(blob)),
        dispatcher=dispatcher,
        tasks=tuple(tasks),
        arena_bytes=arena,
        scratch_bytes=draw(st.integers(0, 1 << 20)),
        producer=draw(names),
        attrs=draw(attrs),
    )
