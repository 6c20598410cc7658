"""Small models for the tests of the om file."""

from __future__ import annotations

import struct

from gecc.om.records import (
    GraphNode,
    IoDesc,
    KernelTask,
    OmModel,
    Operand,
    Source,
    Space,
    TensorDesc,
    WeightEntry,
    Weights,
    kernel_entries,
    place_weights,
)


def weights(*values: tuple[str, tuple[float, ...]]) -> Weights:
    """f32 vectors by name, streamed in pieces as a compiler would."""
    data = [struct.pack(f"<{len(v)}f", *v) for _, v in values]
    offsets, size = place_weights(len(d) for d in data)
    entries = tuple(
        WeightEntry(name, at, len(d), "f32", (len(v),)) for (name, v), d, at in zip(values, data, offsets, strict=True)
    )
    return Weights(entries, size, lambda: iter(zip(offsets, data, strict=True)))


def mlp() -> OmModel:
    """Two launches in two phases, a name used twice, an absent input, attributes of every kind."""
    arena = Operand(Space.ARENA, 64, 32)
    nodes = (
        GraphNode(
            "dense",
            "MatMulV2Relu",
            (Source("input", 0), Source("weight", 0), None),
            (TensorDesc("f32", (1, 8), "ND", arena),),
            ("dense/MatMul", "dense/Relu"),
            {"transpose": True, "k": 8, "alpha": 0.5, "mode": "größe", "strides": (1, 2), "s": ("a", ""), "e": ()},
        ),
        GraphNode(
            "dense",
            "Add",
            (Source("node", 0), Source("weight", 1)),
            (TensorDesc("f32", (1, 8), "ND", Operand(Space.OUTPUT, 0, 32)),),
            ("add:0",),
            {"rows": ((1, 2), (3,)), "f": (1.0, -2.5), "b": (True, False)},
        ),
    )
    w = weights(("w", tuple(float(i) for i in range(64))), ("b", (0.0,) * 7 + (1.0,)))
    blob = bytes(range(200))
    return OmModel(
        name="mlp",
        target="x86-64-v4",
        abi=1,
        inputs=(IoDesc("x", "f32", (1, 8)),),
        outputs=(IoDesc("y", "f32", (1, 8), Source("node", 1)),),
        nodes=nodes,
        weights=w,
        blob=blob,
        kernels=kernel_entries({"run": 0, "matmul": 64, "add": 128}, len(blob)),
        dispatcher="run",
        tasks=(
            KernelTask(
                "matmul",
                "MatMulV2Relu",
                0,
                0,
                4,
                (Operand(Space.INPUT, 0, 32), Operand(Space.WEIGHTS, 512, 256), arena),
                (8, -1, 1 << 40),
            ),
            KernelTask(
                "add",
                "Add",
                1,
                1,
                1,
                (arena, Operand(Space.WEIGHTS, w.entries[1].offset, 32), Operand(Space.OUTPUT, 0, 32)),
                (8,),
            ),
        ),
        arena_bytes=128,
        scratch_bytes=4096,
        producer="gecc test",
        attrs={"note": "a model", "gears": (1, 2)},
    )


def empty() -> OmModel:
    """No inputs, no weights, no kernels, no tasks."""
    return OmModel("", "x86-64-v3", 0)
