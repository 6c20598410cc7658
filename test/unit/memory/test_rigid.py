"""Buffers of pieces: plans are sound, no worse than those of rectangles, and the checker sees into them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gecc.memory import EFFORTS, Buffer, Piece, PlanError, check, lower_bound, plan
from gecc.memory.greedy import order_by_size
from gecc.memory.problem import validate
from gecc.memory.rigid import Staircases


@st.composite
def staircases(draw: st.DrawFn, most: int = 10, sizes: int = 6, alignments: tuple[int, ...] = (1,)) -> list[Buffer]:
    """Buffers, about half of them of one to three pieces, with gaps between some."""
    out: list[Buffer] = []
    for number in range(draw(st.integers(1, most))):
        lower, width = draw(st.integers(0, 8)), draw(st.integers(1, 6))
        b = Buffer(f"b{number}", lower, lower + width, draw(st.integers(0, sizes)), draw(st.sampled_from(alignments)))
        cuts = sorted(draw(st.sets(st.integers(0, b.size), max_size=4)))
        pieces: list[Piece] = []
        for start, stop in itertools.pairwise(cuts):
            first = draw(st.integers(b.lower, b.upper - 1))
            piece = Piece(start, stop, first, draw(st.integers(first + 1, b.upper)))
            pieces += [piece] if draw(st.integers(0, 3)) else []
        out.append(replace(b, pieces=tuple(pieces)))
    return out


def clash(a: Buffer, b: Buffer, distance: int) -> bool:
    """Whether `b`, `distance` bytes behind `a`, shares a byte with it at some time."""
    return any(
        p.lower < q.upper
        and q.lower < p.upper
        and p.start < q.stop + distance
        and q.start + distance < p.stop
        and p.start < p.stop
        and q.start < q.stop
        for p in a.parts
        for q in b.parts
    )


@pytest.mark.parametrize("effort", EFFORTS)
@settings(max_examples=80, deadline=None)
@given(buffers=staircases(alignments=(1, 2, 4)))
def test_plans_are_sound_and_no_worse_than_rectangles(effort: str, buffers: list[Buffer]) -> None:
    found = plan(buffers, effort=effort)
    assert check(buffers, found.offsets, capacity=found.peak) == found.peak
    assert found.bound == lower_bound(buffers) <= found.peak
    assert found.peak <= plan([replace(b, pieces=()) for b in buffers], effort=effort).peak


@settings(max_examples=60, deadline=None)
@given(buffers=staircases(), data=st.data())
def test_the_order_of_the_buffers_does_not_matter(buffers: list[Buffer], data: st.DataObject) -> None:
    assert plan(data.draw(st.permutations(buffers))).offsets == plan(buffers).offsets


@settings(max_examples=60, deadline=None)
@given(buffers=staircases(most=3, sizes=4))
def test_no_plan_beats_all_there_are(buffers: list[Buffer]) -> None:
    live = [b for b in buffers if b.size]
    best = min(
        max((o + b.size for o, b in zip(offsets, live, strict=True)), default=0)
        for offsets in itertools.product(range(9), repeat=len(live))
        if not any(
            clash(a, b, offsets[j] - offsets[i]) for (i, a), (j, b) in itertools.combinations(enumerate(live), 2)
        )
    )
    assert plan(buffers, effort="best").peak == best


@settings(max_examples=200, deadline=None)
@given(buffers=staircases(), data=st.data())
def test_checker_agrees_with_all_pairs(buffers: list[Buffer], data: st.DataObject) -> None:
    """With one buffer moved by any distance."""
    offsets = dict(plan(buffers, effort="fast").offsets)
    victim = data.draw(st.sampled_from(buffers))
    offsets[victim.id] = data.draw(st.integers(0, 16))
    wrong = any(clash(a, b, offsets[b.id] - offsets[a.id]) for a, b in itertools.combinations(buffers, 2))
    if wrong:
        with pytest.raises(PlanError, match="overlap"):
            check(buffers, offsets)
    else:
        check(buffers, offsets)


def test_a_staircase_shares_what_a_rectangle_does_not() -> None:
    """The second half of `joined` is written when `early` is dead, which lies there."""
    joined = Buffer("joined", 0, 9, 8, pieces=(Piece(0, 4, 0, 9), Piece(4, 8, 5, 9)))
    early = Buffer("early", 0, 5, 4)
    found = plan([joined, early])
    assert (found.peak, found.bound) == (8, 8)
    assert plan([replace(joined, pieces=()), early]).peak == 12
    late = replace(early, upper=6)  # one step more, and they overlap
    assert plan([joined, late]).peak == 12
    with pytest.raises(PlanError, match=r"'joined' holds bytes \[4, 8\) during \[5, 9\)"):
        check([joined, late], found.offsets)
    with pytest.raises(PlanError, match=r"'early' holds bytes \[3, 7\) during \[0, 5\)"):
        check([joined, early], found.offsets | {"early": 3})  # one byte lower


@settings(max_examples=60, deadline=None)
@given(buffers=staircases(alignments=(1, 2)), best_fit=st.booleans())
def test_placing_stops_at_its_limit(buffers: list[Buffer], best_fit: bool) -> None:
    staircases = Staircases(buffers)
    order = order_by_size(staircases.p)
    offsets = staircases.place(order, best_fit=best_fit)
    assert offsets is not None
    check(staircases.p.buffers, {b.id: o for b, o in zip(staircases.p.buffers, offsets, strict=True)})
    peak = staircases.p.peak(offsets)
    assert staircases.place(order, best_fit=best_fit, limit=peak) == offsets
    assert not peak or staircases.place(order, best_fit=best_fit, limit=peak - 1) is None


@pytest.mark.parametrize(
    "piece",
    [
        Piece(0, 9, 0, 4),
        Piece(-1, 2, 0, 4),
        Piece(2, 2, 0, 4),
        Piece(0, 8, 0, 5),
        Piece(0, 8, 3, 3),
        Piece(0, 8, -1, 3),
    ],
)
def test_malformed_pieces(piece: Piece) -> None:
    with pytest.raises(PlanError, match="'b', 8 bytes in"):
        validate([Buffer("b", 0, 4, 8, pieces=(piece,))])
    with pytest.raises(PlanError, match="'b', 8 bytes in"):
        plan([Buffer("b", 0, 4, 8, pieces=(Piece(0, 4, 0, 4), Piece(3, 8, 0, 4)))])
