"""What gears users may ask for, and how."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gecc.errors import CliError, ShapeError
from gecc.gears import Gears, batch_gears, dims_gears, gears_of, image_gears, parse_gears

OPEN = {"x": (-1, 3, -1), "y": (7,), "z": (-1,)}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: gears_of([{"x": (1, 2)}, {"x": (1, 2)}]), "E10039: gears 0 and 1 are the same"),
        (lambda: gears_of([{"x": (1, 2)}]), "E10035"),
        (lambda: gears_of([]), "E10035: there is 0 gear"),
        (lambda: gears_of([{"x": (n,)} for n in range(1, 102)]), "E10036"),
        (lambda: gears_of([{"x": (1,)}, {"x": (0,)}]), "E10038"),
        (lambda: gears_of([{"x": (1,)}, {"x": (True,)}]), "E10038"),
        (lambda: gears_of([{"x": (1,)}, {"x": (1.5,)}]), "E10038"),  # pyright: ignore[reportArgumentType]
        (lambda: gears_of([{"x": (1,)}, 3]), "expected a list of shapes"),  # pyright: ignore[reportArgumentType]
        (lambda: gears_of([{"x": 3}, {"x": 4}]), "expected a list of shapes"),  # pyright: ignore[reportArgumentType]
        (lambda: gears_of("ab"), "expected a list of shapes"),  # pyright: ignore[reportArgumentType]
        (lambda: gears_of([{"x": (1, 3, 4)}, {"x": (1, 3, 5), "z": (2,)}], OPEN), "gear 0 leaves input 'z'"),
        (lambda: gears_of([{"x": (1, 4, 4)}, {"x": (1, 3, 5)}], OPEN), "gear 0 gives input 'x' the shape [1, 4, 4]"),
        (lambda: gears_of([{"x": (1, 3)}, {"x": (1, 3, 5)}], OPEN), "gear 0 gives input 'x' the shape [1, 3]"),
        (lambda: image_gears({"x": (1, 3, -1, -1)}, [(1, 2), (3, 4)], "CHW"), "the layout of images is 'CHW'"),
        (lambda: image_gears({"x": (1, -1, -1)}, [(1, 2), (3, 4)]), "E10019"),
        (lambda: batch_gears({}, [1, 2]), "E10012: no input has -1 as its first dimension: no shapes are given"),
    ],
)
def test_gears_that_are_none(make: Callable[[], Gears], said: str) -> None:
    with pytest.raises(ShapeError) as e:
        make()
    assert said in str(e.value)


def test_integers_of_any_kind_are_sizes() -> None:
    import numpy as np

    plain = batch_gears({"x": (-1, 2)}, [1, 3])
    assert batch_gears({"x": np.array([-1, 2])}, np.array([1, 3])) == plain  # pyright: ignore[reportArgumentType]
    assert gears_of([{"x": np.array([n, 2])} for n in (1, 3)]).shapes == plain.shapes  # pyright: ignore[reportArgumentType]


def test_images_of_either_layout() -> None:
    sizes = [(4, 5), (6, 7)]
    assert [g["x"] for g in image_gears({"x": (1, 3, -1, -1), "s": ()}, sizes)] == [(1, 3, 4, 5), (1, 3, 6, 7)]
    assert [g["x"] for g in image_gears({"x": (1, -1, -1, 3)}, sizes, "NHWC")] == [(1, 4, 5, 3), (1, 6, 7, 3)]
    two = image_gears({"a": (1, 3, -1, -1), "b": (1, 1, -1, -1)}, sizes)
    assert two[1] == {"a": (1, 3, 6, 7), "b": (1, 1, 6, 7)}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.integers(1, 9)] * 3), min_size=2, max_size=8, unique=True))
def test_dims_fill_what_is_open_in_order(groups: list[tuple[int, int, int]]) -> None:
    text = ";".join(",".join(map(str, group)) for group in groups)
    found = parse_gears("dims", text, OPEN)
    assert found == dims_gears(OPEN, groups) == gears_of([dict(g) for g in found], OPEN)
    assert [(g["x"], g["y"], g["z"]) for g in found] == [((a, 3, b), (7,), (c,)) for a, b, c in groups]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["batch", "image", "dims"]), st.text("0123456789,;- x", max_size=20))
def test_any_text_is_gears_or_an_error_in_words(kind: str, text: str) -> None:
    shapes = {"batch": {"x": (-1, 2)}, "image": {"x": (1, 3, -1, -1)}, "dims": OPEN}[kind]
    try:
        found = parse_gears(kind, text, shapes)
    except (CliError, ShapeError) as error:
        found = error.message
    if isinstance(found, str):
        assert found.startswith("E10")
        return
    assert 2 <= len(found) <= 100 and found.kind == kind
    assert len({tuple(sorted(g.items())) for g in found}) == len(found)
    assert all(size >= 1 for g in found for shape in g.values() for size in shape)
