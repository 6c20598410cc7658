"""Random models with other outputs than their own, and whatever can be switched off switched off at random."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gecc import api
from gecc.debug.smith.generate import generate
from gecc.debug.smith.oracle import fault
from gecc.switches import Switch, known_rules, optional_passes, resolve


def names() -> list[str]:
    """Everything that can be switched off."""
    rules = known_rules()
    return [*rules, *(f"{rule}:{op}" for rule, ops in rules.items() for op in ops), *optional_passes()]


@pytest.mark.parametrize("seed", range(8))
def test_results_do_not_depend_on_what_is_off(seed: int) -> None:
    sample, rng = generate(seed), random.Random(seed)
    share = rng.choice([0.05, 0.3, 0.9])
    off, unknown = resolve([Switch(name, False) for name in names() if rng.random() < share])
    assert not unknown
    made = {name for node in sample.model.graph.node for name in node.output}
    candidates = sorted(made & sample.values.keys())
    wanted = rng.sample(candidates, min(len(candidates), 2))
    level = rng.choice(["O1", "O2"])
    made_om = api.compile(sample.model.SerializeToString(), outputs=wanted, switches=off, opt_level=level)
    with api.load(made_om, threads=1) as executor:
        results = executor.run(sample.feeds)
    assert list(results) == wanted
    for name in wanted:
        assert fault(np.array(results[name]), sample.values[name]) is None, (name, off)
