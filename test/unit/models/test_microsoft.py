"""Operators of com.microsoft as kernels, against ONNX Runtime."""

from __future__ import annotations

import pytest

from test.unit.frontend import test_microsoft as small
from test.unit.frontend import test_microsoft_attention as attention
from test.unit.frontend.cases import assert_close
from test.unit.frontend.microsoft import Contributed, declared
from test.unit.models.harness import compiled, results

CASES = [
    small.ACTIVATIONS[-1],
    small.PRODUCTS[3],
    small.GEMMS[3],
    small.CONVOLUTIONS[6],
    *[case for case in small.NORMALISATIONS if case.outputs == small.BOTH][::5],
    small.few_bits(4, 50, 16, zeros="packed", bias=True),
    small.few_bits(8, 96, 32, fixed=False),
    small.table("uint4", zeros=True, indices=small.ints(2, 3, low=0, high=9)),
    attention.attention(past=attention.PAST, mask=attention.bits(2, attention.TOTAL), unidirectional=1),
    attention.MULTI_HEAD[8],
    attention.grouped(new=1, old=5, lengths=(6, 4), do_rotary=1, softcap=0.7),
    attention.halves(attention.grouped(new=6, local_window_size=3, smooth_softmax=1)),
]


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_kernels(case: Contributed, level: str) -> None:
    wanted = case.wanted()
    found = results(compiled(declared(case, wanted), case.feeds, level=level), case.feeds)
    assert_close(found, wanted, case.tolerance)
