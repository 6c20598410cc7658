"""Attention and rotation of com.microsoft against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from gecc.context import make_context
from gecc.errors import UnsupportedError
from gecc.frontend.onnx import import_onnx
from test.unit.frontend.cases import Array, Fixed, assert_close, floats, imported, ints
from test.unit.frontend.microsoft import Contributed, check, declared

BATCH, HEADS, SIZE, OLD, NEW = 2, 3, 4, 5, 6
WIDTH = HEADS * SIZE
TOTAL = OLD + NEW


def i32(*values: Any) -> Array:
    return np.array(values, np.int32)


def bits(*shape: int) -> Array:
    """Ones and zeros; the first column is ones, so that no row is all hidden."""
    mask = ints(*shape, low=0, high=2, dtype=np.int32)
    mask[..., 0] = 1
    return mask


def trimmed(inputs: Sequence[Any]) -> list[Any]:
    """The inputs without missing ones at the end."""
    result = list(inputs)
    while result[-1] is None:
        result.pop()
    return result


X = floats(BATCH, NEW, 10)
WEIGHTS, BIAS = Fixed(floats(10, 3 * WIDTH, low=-0.5, high=0.5)), Fixed(floats(3 * WIDTH, low=-0.5, high=0.5))
PAST = floats(2, BATCH, HEADS, OLD, SIZE)
SCORES = floats(1, HEADS, NEW, NEW)


def attention(
    *, bias: Any = BIAS, mask: Any = None, past: Any = None, scores: Any = None, note: str = "", **attributes: Any
) -> Contributed:
    inputs = trimmed([X, WEIGHTS, bias, mask, past, scores])
    outputs = (True, True) if past is not None else (True,)
    return Contributed("Attention", inputs, {"num_heads": HEADS, **attributes}, outputs, note=note)


ATTENTION = [
    attention(),
    attention(unidirectional=1),
    attention(scale=0.3),
    attention(bias=None, unidirectional=1, note="no bias"),
    attention(scores=SCORES, note="scores"),
    attention(scores=floats(BATCH, 1, NEW, NEW), mask=bits(BATCH, NEW), note="both"),
    *(attention(mask=i32(4, 6), unidirectional=u, note="ends") for u in (0, 1)),
    *(attention(mask=i32(4, 6, 1, 2), unidirectional=u, note="ends and starts") for u in (0, 1)),
    *(attention(mask=bits(BATCH, NEW), unidirectional=u, note="columns") for u in (0, 1)),
    *(attention(mask=bits(BATCH, NEW, NEW), unidirectional=u, note="pairs") for u in (0, 1)),
    attention(mask=np.zeros((BATCH, NEW), np.int32), note="all hidden"),
    attention(mask=np.zeros((BATCH, NEW), np.int32), unidirectional=1, note="all hidden"),
    attention(mask=bits(BATCH, NEW), mask_filter_value=-3.0, note="columns"),
    attention(past=PAST, unidirectional=1, note="past"),
    attention(past=PAST, mask=bits(BATCH, TOTAL), unidirectional=1, note="past"),
    attention(past=PAST, mask=bits(BATCH, NEW, TOTAL), note="past"),
    attention(past=floats(2, BATCH, HEADS, 0, SIZE), unidirectional=1, note="no past"),
    Contributed(
        "Attention",
        [X, Fixed(floats(10, 12 + 12 + 18)), Fixed(floats(42))],
        {"num_heads": HEADS, "qkv_hidden_sizes": [12, 12, 18]},
        note="widths",
    ),
]

BYTES, SIGNED = (
    ints(BATCH, NEW, 10, low=0, high=256, dtype=np.uint8),
    ints(10, 3 * WIDTH, low=-128, high=128, dtype=np.int8),
)
QUANTISED = [
    Contributed(
        "QAttention",
        trimmed([BYTES, Fixed(SIGNED), BIAS, Fixed(np.float32(0.01)), Fixed(scale), mask, Fixed(np.uint8(120)), zero, past]),
        {"num_heads": HEADS, "unidirectional": past is not None},
        (True, past is not None),
        note=note,
    )
    for note, scale, mask, zero, past in (
        ("plain", np.float32(0.02), None, None, None),
        ("ends", np.float32(0.02), i32(4, 6), Fixed(np.int8(3)), None),
        ("columns", floats(3 * WIDTH, low=0.01, high=0.03), bits(BATCH, NEW), Fixed(np.zeros(3 * WIDTH, np.int8)), None),
        ("past", np.float32(0.02), None, None, PAST),
    )
]  # fmt: skip

Q, K, V = floats(BATCH, NEW, WIDTH), floats(BATCH, 7, WIDTH, low=-1), floats(BATCH, 7, HEADS * 5, high=1)
QKV_BIAS = floats(2 * WIDTH + HEADS * 5)
PAST_K, PAST_V = floats(BATCH, HEADS, OLD, SIZE), floats(BATCH, HEADS, OLD, SIZE, low=-1)


def many(*inputs: Any, outputs: int = 1, note: str = "", **attributes: Any) -> Contributed:
    named = [True] * outputs
    return Contributed("MultiHeadAttention", trimmed(inputs), {"num_heads": HEADS, **attributes}, named, note=note)


MULTI_HEAD = [
    many(Q, K, V),
    many(Q, K, V, scale=0.2),
    many(Q, K, V, QKV_BIAS, note="bias"),
    many(Q, K, V, None, bits(BATCH, 7), note="columns"),
    many(Q, K, V, None, bits(BATCH, 7), mask_filter_value=-2.0, note="columns"),
    many(Q, K, V, None, i32(3, 7), note="ends"),
    many(Q, K, V, None, bits(BATCH, NEW, 7), note="pairs"),
    many(Q, K, V, None, None, floats(BATCH, 1, NEW, 7), note="scores"),
    many(Q, K, V, QKV_BIAS, bits(BATCH, 7), floats(1, HEADS, NEW, 7), note="all"),
    many(Q, Q[::-1].copy(), Q * 2, unidirectional=1),
    many(Q, Q[::-1].copy(), Q * 2, outputs=3, note="present"),
    many(Q, Q * 3, Q * 2, None, None, None, PAST_K, PAST_V, outputs=3, unidirectional=1, note="past"),
    many(Q, Q * 3, Q * 2, None, bits(BATCH, TOTAL), None, PAST_K, PAST_V, outputs=3, note="past and columns"),
    many(Q, PAST_K, PAST_V, note="heads"),
]

TABLE = [floats(20, 4, low=-1, high=1), floats(20, 4, high=1)]
NARROW = [floats(20, 2, low=-1, high=1), floats(20, 2, high=1)]
PLACES = ints(BATCH, NEW, low=0, high=20)
ROTARY = [
    *(
        Contributed("RotaryEmbedding", [x, places, *(Fixed(t) for t in TABLE)], {"interleaved": i}, note=f"{x.ndim}d")
        for x in (floats(BATCH, NEW, 24), floats(BATCH, 3, NEW, 8))
        for places in (np.array([3]), PLACES)
        for i in (0, 1)
    ),
    *(
        Contributed(
            "RotaryEmbedding",
            [floats(BATCH, NEW, 24), PLACES, *NARROW],
            {"interleaved": i, "num_heads": 3, "rotary_embedding_dim": 4},
        )
        for i in (0, 1)
    ),
]


def grouped(
    *, heads: int = 4, groups: int = 2, size: int = 8, old: int = 0, buffer: int = 0, new: int = NEW,
    lengths: Sequence[int] = (), packed: bool = False, rest: Sequence[Any] = (), note: str = "", **attributes: Any,
) -> Contributed:  # fmt: skip
    """GroupQueryAttention: `old` positions in a past of `buffer` or as many, `new` ones, both in `lengths` per batch."""
    size = 16 if attributes.get("do_rotary") else size
    lengths = lengths or (old + new,) * BATCH
    batch = len(lengths)
    q, k, v = (
        floats(batch, new, heads * size),
        floats(batch, new, groups * size, low=-1),
        floats(batch, new, groups * size),
    )
    parts = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
    space = buffer or old
    past = [floats(batch, groups, space, size), floats(batch, groups, space, size, low=-1)] if space else [None, None]
    rotary: list[Any] = [None, None]
    if attributes.get("do_rotary"):
        rotary = [floats(32, size // 2, low=-1, high=1), floats(32, size // 2, high=1)]
    inputs = [*parts, *past, np.array(lengths, np.int32) - 1, Fixed(np.int32(old + new)), *rotary, *rest]
    return Contributed(
        "GroupQueryAttention",
        trimmed(inputs),
        {"num_heads": heads, "kv_num_heads": groups, **attributes},
        (True, True, True),
        note=f"{note}{'packed' * packed}{old}+{new}{lengths if len(set(lengths)) > 1 else ''}",
    )


GROUPED = [
    *(
        grouped(new=new, old=old, do_rotary=rotary, rotary_interleaved=inter, packed=packed)
        for new, old in ((6, 0), (1, 5))
        for rotary, inter in ((0, 0), (1, 0), (1, 1))
        for packed in (False, True)
    ),
    grouped(heads=3, groups=1),
    grouped(heads=3, groups=3, scale=0.4),
    *(grouped(new=n, old=o, local_window_size=w) for (n, o), w in product(((7, 0), (1, 6)), (1, 3, 20))),
    *(grouped(new=n, old=o, softcap=0.7, do_rotary=1) for n, o in ((6, 0), (1, 5))),
    *(grouped(new=n, old=o, smooth_softmax=1) for n, o in ((6, 0), (1, 5))),
    grouped(rest=[None, None, floats(4)], note="sink"),
    *(grouped(rest=[None, floats(*dims, 6, 6)], softcap=0.7, note="scores") for dims in ((1, 4), (2, 1))),
    grouped(new=1, old=5, rest=[None, floats(2, 4, 1, 6)], note="scores"),
    grouped(new=1, old=5, lengths=(6, 4), do_rotary=1),
    grouped(new=6, lengths=(6, 4), do_rotary=1),
    grouped(new=1, old=5, lengths=(3, 6), local_window_size=2),
    grouped(new=3, old=5, lengths=(8,), do_rotary=1),
    *(grouped(new=n, old=o, buffer=9, do_rotary=1) for n, o in ((6, 0), (1, 5))),
    grouped(new=1, old=5, buffer=9, lengths=(4, 6)),
    *(
        grouped(new=n, old=o, lengths=(o + n,) * b, rest=[ints(b, n, low=0, high=9)], do_rotary=1, note="places")
        for n, o, b in ((6, 0, 2), (1, 5, 2), (3, 5, 1))
    ),
]


@pytest.mark.parametrize("case", [*ATTENTION, *QUANTISED, *MULTI_HEAD, *ROTARY, *GROUPED], ids=lambda case: case.id)
def test_equals_onnx_runtime(case: Contributed) -> None:
    check(case)


def halves(case: Contributed) -> Contributed:
    """The case with all of f32 in f16."""

    def half(x: Any) -> Any:
        if isinstance(x, Fixed):
            return Fixed(half(x.array))
        return x.astype(np.float16) if x is not None and x.dtype == np.float32 else x

    return replace(case, inputs=[half(x) for x in case.inputs], tolerance=4e-3)


@pytest.mark.parametrize("case", [*ATTENTION, *MULTI_HEAD, *ROTARY, *GROUPED], ids=lambda case: case.id)
def test_half_precision(case: Contributed) -> None:
    check(halves(case))


@pytest.mark.parametrize("past", [False, True])
def test_packed_heads_are_those_apart(past: bool) -> None:
    """[batch, positions, heads, 3 or 2, size], which ONNX Runtime does not have for the CPU."""
    q, k, v = (floats(BATCH, NEW, HEADS, SIZE, high=1 + i) for i in range(3))
    flat = [x.reshape(BATCH, NEW, WIDTH) for x in (q, k, v)]
    rest = [floats(3 * WIDTH), None, None, *([PAST_K, PAST_V] if past else [])]
    wanted = many(*flat, *rest, outputs=3).wanted()
    for inputs in ([np.stack([q, k, v], 3), None, None], [flat[0], np.stack([k, v], 3), None]):
        case = many(*inputs, *rest, outputs=3)
        assert_close(imported(declared(case, wanted), case.feeds)[1], wanted, 1e-5)


def test_what_kernels_of_other_devices_need_is_refused() -> None:
    case = attention(past_present_share_buffer=1)
    with pytest.raises(UnsupportedError, match="past_present_share_buffer = 1 is not supported"):
        import_onnx(make_context(), case.model([(BATCH, NEW, WIDTH)], [np.dtype(np.float32)]))
