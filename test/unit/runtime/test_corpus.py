"""Files written by earlier versions load, and give what they gave.

test/corpus/abi<N> holds what the version with that ABI wrote, for x86-64-v3, with inputs and results beside it;
test/corpus/schema<N> what the encoding with that number added. A change of the format adds a folder; none is ever changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gecc.api import load
from gecc.om.reader import read
from gecc.om.records import SCHEMA
from gecc.runtime import abi
from gecc.target import load as load_target
from gecc.target import supports

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = sorted(CORPUS.glob("*/*.om"))


def test_every_version_is_there() -> None:
    folders = {*(f"abi{n}" for n in range(1, abi.ABI + 1)), *(f"schema{n}" for n in range(3, SCHEMA + 1))}
    assert {path.parent.name for path in FILES} == folders


@pytest.mark.skipif(bool(supports(load_target("x86-64-v3"))), reason="this CPU has no AVX2")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_file_gives_what_it_gave(path: Path, ranks: int) -> None:
    runs = [path.with_suffix(".npz"), *sorted(path.parent.glob(f"{path.stem}.gear*.npz"))]
    portable = read(path).portable
    with load(path, threads=ranks, affinity="none", verify="full") as executor:
        assert len(executor.gears) in (0, len(runs))
        for run in runs:
            with np.load(run) as arrays:
                feeds = {name.removeprefix("in."): arrays[name] for name in arrays if name.startswith("in.")}
                expected = {name.removeprefix("out."): arrays[name] for name in arrays if name.startswith("out.")}
            found = executor.run(feeds)
            assert found.keys() == expected.keys()
            for name, array in expected.items():
                if portable and array.dtype.kind == "f":  # compiled anew, by this version: sums may go in another order
                    np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-5)
                else:
                    np.testing.assert_array_equal(found[name], array)
