"""The checker finds planted faults, and names them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gecc.memory import Buffer, PlanError, check, plan

BUFFERS = [Buffer("a", 0, 4, 8, 4), Buffer("b", 2, 6, 8, 4), Buffer("c", 4, 8, 8, 4), Buffer("empty", 0, 9, 0)]
GOOD = {"a": 0, "b": 8, "c": 0, "empty": 3}


def test_sound_plan() -> None:
    assert check(BUFFERS, GOOD) == 16
    assert check(BUFFERS, GOOD, capacity=16) == 16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": 4}, r"buffers 'a' and 'b' overlap: 'a' holds bytes \[0, 8\) during \[0, 4\), 'b' holds bytes \[4, 12\)"),
        ({"c": 8}, "buffers 'b' and 'c' overlap"),
        ({"a": 8, "b": 8}, "buffers 'a' and 'b' overlap"),
        ({"a": 2}, "buffer 'a' is at offset 2, expected a multiple of 4"),
        ({"a": -4}, "buffer 'a' is at offset -4, expected 0 or more"),
        ({"z": 0}, "places 'z', which is not a buffer"),
    ],
)
def test_planted_faults(change: dict[str, int], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        check(BUFFERS, GOOD | change)


def test_missing_offset_and_capacity() -> None:
    with pytest.raises(PlanError, match=r"buffer 'c' \(8 bytes\) has no offset"):
        check(BUFFERS, {k: v for k, v in GOOD.items() if k != "c"})
    with pytest.raises(PlanError, match="buffer 'b' ends at byte 16, expected at most 15"):
        check(BUFFERS, GOOD, capacity=15)


def test_malformed_problem() -> None:
    with pytest.raises(PlanError, match="used twice"):
        check([*BUFFERS, Buffer("a", 20, 21, 1)], GOOD)
    with pytest.raises(PlanError, match=r"lives in \[3, 3\)"):
        check([Buffer("a", 3, 3, 1)], {"a": 0})


@settings(max_examples=200, deadline=None)
@given(
    spans=st.lists(st.tuples(st.integers(0, 8), st.integers(1, 5), st.integers(1, 6)), min_size=2, max_size=12),
    data=st.data(),
)
def test_agrees_with_all_pairs_on_moved_buffers(spans: list[tuple[int, int, int]], data: st.DataObject) -> None:
    buffers = [Buffer(f"b{i}", low, low + w, size) for i, (low, w, size) in enumerate(spans)]
    offsets = dict(plan(buffers, effort="fast").offsets)
    victim = data.draw(st.sampled_from(buffers))
    offsets[victim.id] = data.draw(st.integers(0, 20))

    def clash(a: Buffer, b: Buffer) -> bool:
        in_time = a.lower < b.upper and b.lower < a.upper
        return in_time and offsets[a.id] < offsets[b.id] + b.size and offsets[b.id] < offsets[a.id] + a.size

    bad = [(a.id, b.id) for i, a in enumerate(buffers) for b in buffers[:i] if clash(a, b)]
    if not bad:
        check(buffers, offsets)
        return
    with pytest.raises(PlanError, match="overlap") as error:
        check(buffers, offsets)
    assert any(f"{a!r} and {b!r}" in str(error.value) or f"{b!r} and {a!r}" in str(error.value) for a, b in bad)
