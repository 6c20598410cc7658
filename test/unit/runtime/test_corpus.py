"""Files written by earlier versions load, and give what they gave.

test/corpus/abi<N> holds what the version with that ABI wrote, for x86-64-v3, with inputs and results beside it. A change of
the format adds a folder; none is ever changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gecc.runtime import abi
from gecc.runtime.executor import load
from gecc.target import load as load_target
from gecc.target import supports

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = sorted(CORPUS.glob("abi*/*.om"))


def test_every_version_is_there() -> None:
    assert {path.parent.name for path in FILES} == {f"abi{number}" for number in range(1, abi.ABI + 1)}


@pytest.mark.skipif(bool(supports(load_target("x86-64-v3"))), reason="this CPU has no AVX2")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_file_gives_what_it_gave(path: Path, ranks: int) -> None:
    with np.load(path.with_suffix(".npz")) as arrays:
        feeds = {name.removeprefix("in."): arrays[name] for name in arrays if name.startswith("in.")}
        expected = {name.removeprefix("out."): arrays[name] for name in arrays if name.startswith("out.")}
    with load(path, threads=ranks, affinity="none", verify="full") as executor:
        found = executor.run(feeds)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
