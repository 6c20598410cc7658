"""Squeaky wheel: replay first fit with the buffers that ended too high moved forward.

After Joslin and Clements, "Squeaky wheel optimization", 1999: construct, find who is to blame, raise their priority,
construct again. It finds near-optimal plans of thousands of buffers, where a complete search is lost.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

from gecc.memory.greedy import place
from gecc.memory.problem import Instance


def squeaky(
    p: Instance,
    order: Sequence[int],
    *,
    target: int,
    replays: int,
    seed: int = 0,
    patience: int = 60,
    first_fit: Callable[[Sequence[int]], list[int] | None] | None = None,
) -> tuple[list[int], int]:
    """(offsets, peak) of the best of at most `replays` first fits, starting with `order`; stops at a peak of `target`.

    `first_fit` puts the buffers in some order; rectangles by default. The random numbers are seeded. After `patience`
    replays without progress the best order is taken up again.
    """
    rng = random.Random(seed)
    if first_fit is None:
        first_fit = partial(place, p, neighbours=p.neighbours())
    order = list(order)
    best_order, best, best_peak, since = order, None, -1, 0
    for _ in range(replays):
        offsets = first_fit(order)
        assert offsets is not None
        peak = p.peak(offsets)
        if best is None or peak < best_peak:
            best, best_peak, best_order, since = offsets, peak, order, 0
            if peak <= target:
                break
        else:
            since += 1
        # blame all that end above the target; what ends highest goes furthest forward
        height = max(peak - target, 1)
        key = [float(k) for k in range(p.n)]
        for k, i in enumerate(order):
            over = offsets[i] + p.size[i] - target
            if over > 0:
                key[k] = k * rng.random() * (1.0 - 0.5 * over / height)
        if since and since % patience == 0:
            order = list(best_order)
            # a few random exchanges lead out of a cycle
            for _ in range(max(1, p.n // 50)):
                a, b = rng.randrange(p.n), rng.randrange(p.n)
                order[a], order[b] = order[b], order[a]
            continue
        order = [order[k] for k in sorted(range(p.n), key=key.__getitem__)]
    assert best is not None
    return best, best_peak
