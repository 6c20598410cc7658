"""Cases of one node, compiled to machine code and run: every level of optimisation, one rank and two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import gecc
from gecc import backend
from test.unit.frontend.cases import Array, Case, assert_close, check, expected

WAYS = (("O2", 2), ("O0", 1))
"""Levels and numbers of ranks that a case is run with; -O1 differs from -O2 in fusion alone."""


def check_native(case: Case, ways: Sequence[tuple[str, int]] = WAYS) -> None:
    """The machine code of the case gives the oracle's numbers."""
    feeds, model = case.feeds(), case.model()
    wanted = expected(model, feeds, reference=case.reference)
    for level, threads in ways:
        with gecc.load(gecc.compile(model, opt_level=level), threads=threads, affinity="none") as executor:
            assert_close(executor.run(feeds), wanted, case.tolerance)


def run_native(case: Case) -> list[Array]:
    """The results of the machine code of a case, of any element type."""
    ready = backend.prepare(case.model(), no_host=True, threads=1, affinity="none")
    return list(ready.run([x for x in case.inputs if isinstance(x, np.ndarray)]))


def check_everywhere(case: Case) -> None:
    """The case in numpy (with sizes declared and without) and as machine code."""
    check(case)
    check_native(case)
