"""Plans of random instances: always sound, never below the bound, the same however the buffers are listed."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gecc.memory import EFFORTS, Buffer, PlanError, check, lower_bound, plan
from gecc.memory.greedy import RULES, _place_arrays, _place_lists, order_by_size, place
from gecc.memory.problem import Instance, align_up


@st.composite
def instances(draw: st.DrawFn, most: int = 24, alignments: tuple[int, ...] = (1,)) -> list[Buffer]:
    spans = draw(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)), min_size=0, max_size=most))
    sizes = draw(st.lists(st.integers(0, 9), min_size=len(spans), max_size=len(spans)))
    return [
        Buffer(f"b{i}", low, low + width, size, draw(st.sampled_from(alignments)))
        for i, ((low, width), size) in enumerate(zip(spans, sizes, strict=True))
    ]


def brute_force(buffers: list[Buffer]) -> int:
    """The smallest peak there is: some order of stacking each buffer as low as it goes is always optimal."""
    best = sum(align_up(b.size, b.alignment) for b in buffers)
    live = [b for b in buffers if b.size]
    for order in itertools.permutations(live):
        placed: list[tuple[Buffer, int]] = []
        for b in order:
            # bottom-left: on top of the highest conflicting buffer placed so far
            tops = [o + p.size for p, o in placed if p.lower < b.upper and b.lower < p.upper]
            placed.append((b, align_up(max(tops, default=0), b.alignment)))
        best = min(best, max((o + b.size for b, o in placed), default=0))
    return best


@pytest.mark.parametrize("effort", EFFORTS)
@settings(max_examples=60, deadline=None)
@given(buffers=instances(alignments=(1, 2, 4)))
def test_every_plan_passes_the_checker(effort: str, buffers: list[Buffer]) -> None:
    found = plan(buffers, effort=effort)
    assert check(buffers, found.offsets) == found.peak
    assert found.bound == lower_bound(buffers) <= found.peak


@settings(max_examples=60, deadline=None)
@given(buffers=instances())
def test_every_rule_passes_the_checker(buffers: list[Buffer]) -> None:
    p = Instance(buffers)
    for rule in RULES.values():
        offsets = rule(p, None)
        assert offsets is not None
        check(p.buffers, {b.id: o for b, o in zip(p.buffers, offsets, strict=True)})
        if p.n:
            assert rule(p, p.peak(offsets) - 1) is None


@settings(max_examples=60, deadline=None)
@given(buffers=instances(alignments=(1, 2, 4)), best_fit=st.booleans())
def test_list_and_array_placement_agree(buffers: list[Buffer], best_fit: bool) -> None:
    p = Instance(buffers)
    order = order_by_size(p)
    assert _place_lists(p, order, best_fit, None, None, p.neighbours()) == _place_arrays(p, order, best_fit, None, None)


@settings(max_examples=40, deadline=None)
@given(buffers=instances())
def test_placing_around_fixed_buffers_moves_none_of_them(buffers: list[Buffer]) -> None:
    p = Instance(buffers)
    order = order_by_size(p)
    some = order[: len(order) // 2]
    first = place(p, some)
    assert first is not None
    second = place(p, [i for i in order if i not in some], fixed=first)
    assert second is not None
    assert [second[i] for i in some] == [first[i] for i in some]
    check(p.buffers, {b.id: o for b, o in zip(p.buffers, second, strict=True)})


@settings(max_examples=60, deadline=None)
@given(buffers=instances(), seed=st.randoms(use_true_random=False))
def test_listing_order_does_not_matter(buffers: list[Buffer], seed) -> None:
    shuffled = list(buffers)
    seed.shuffle(shuffled)
    assert plan(buffers).offsets == plan(shuffled).offsets
    assert plan(buffers) == plan(list(buffers))


@settings(max_examples=60, deadline=None)
@given(buffers=instances())
def test_bound_under_reversal_and_scaling(buffers: list[Buffer]) -> None:
    mirrored = [replace(b, lower=-b.upper, upper=-b.lower) for b in buffers]
    assert lower_bound(mirrored) == lower_bound(buffers) == Instance(buffers).bound
    found, scaled = plan(buffers), plan([replace(b, size=3 * b.size, alignment=3) for b in buffers])
    assert (scaled.peak, scaled.bound) == (3 * found.peak, 3 * found.bound)


@settings(max_examples=60, deadline=None)
@given(buffers=instances(most=6))
def test_against_brute_force(buffers: list[Buffer]) -> None:
    best = brute_force(buffers)
    found = plan(buffers, effort="best")
    assert lower_bound(buffers) <= best <= found.peak
    # a bound that can be met is met: the searches are complete on so few buffers
    if best == lower_bound(buffers):
        assert found.peak == best


@settings(max_examples=60, deadline=None)
@given(buffers=instances(), slack=st.integers(0, 5))
def test_sections_are_the_conflicts(buffers: list[Buffer], slack: int) -> None:
    p = Instance(buffers)
    pairs = 0
    near = p.neighbours()
    for i, j in itertools.combinations(range(p.n), 2):
        a, b = p.buffers[i], p.buffers[j]
        meet = a.lower < b.upper and b.lower < a.upper
        assert meet == (p.lo[i] < p.hi[j] and p.lo[j] < p.hi[i])
        assert meet == (j in near[i]) == (i in near[j])
        pairs += meet
    assert p.pairs() == pairs


def test_capacity_stops_early_and_effort_is_checked() -> None:
    buffers = [Buffer("a", 0, 2, 4), Buffer("b", 1, 3, 4)]
    assert plan(buffers, capacity=100).peak <= 100
    with pytest.raises(PlanError, match="unknown memory effort 'huge'"):
        plan(buffers, effort="huge")


@pytest.mark.parametrize(
    ("buffers", "message"),
    [
        ([Buffer("a", 1, 1, 4)], r"buffer 'a' lives in \[1, 1\), expected lower < upper"),
        ([Buffer("a", 0, 1, -4)], "buffer 'a' has size -4"),
        ([Buffer("a", 0, 1, 4, 0)], "buffer 'a' has alignment 0"),
        ([Buffer("a", 0, 1, 4), Buffer("a", 3, 4, 4)], "buffer id 'a' is used twice"),
    ],
)
def test_malformed_buffers(buffers: list[Buffer], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan(buffers)


def test_empty_and_zero_size() -> None:
    assert plan([]).peak == 0
    assert plan([Buffer("a", 0, 1, 0)]).offsets == {"a": 0}
