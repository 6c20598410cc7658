"""Times of several runtimes on one model, measured in turns.

Runtimes are not measured one after the other, where a change of the machine would fall on one of them, but in rounds:
each runs a few times, then the next. Between two of them is a pause, because the threads of ONNX Runtime's pool go on
spinning for a while after a run and would take the next one's cores, and a run that is not counted, which brings the
caches back.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from gecc import api
from gecc.debug.compare import TOLERANCE, Difference, compare
from gecc.debug.feeds import random_of_onnx
from gecc.debug.peers import PEERS, Gecc, Runner
from gecc.errors import GeccError, InputError
from gecc.om.records import KernelForm

SETTLE = 0.03
"""Seconds of pause before each competitor's turn."""

HEADER = ("threads", "runtime", "median", "quartiles", "peer / gecc")
"""Names of the columns of `rows`."""


class WrongValues(GeccError):
    """A competitor's values differ; its times would mean nothing."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One runtime at one number of threads: seconds a run.

    `ratio` is how many times as long as gecc it takes: the median over the rounds of its median in a round over gecc's, so
    that what slows the machine down for a while falls on both.
    """

    runtime: str
    threads: int
    median: float
    lower: float
    upper: float
    runs: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure. Each of `rounds` gives every runtime a turn of `per_turn` runs, or of `turn_seconds` if that is
    shorter (one run at least)."""

    rounds: int = 12
    per_turn: int = 50
    turn_seconds: float = 0.15
    settle: float = SETTLE
    tolerance: float = TOLERANCE
    seed: int = 0


def bench(
    model: str,
    peers: Sequence[str],
    threads: Sequence[int],
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    opt_level: str = "O2",
    target: str = "host",
    kernels: KernelForm = "native",
    host: api.Host = "allow",
    settings: Settings | None = None,
) -> list[Timing]:
    """Compile `model`, check its values against each peer's, and measure all of them at each number of threads.

    Raises WrongValues when an output differs by more than the tolerance, InputError for inputs that are no numbers.
    """
    settings = settings or Settings()
    compiled = api.compile(
        model, input_shapes=input_shapes, opt_level=opt_level, target=target, host=host, kernels=kernels
    )
    if objects := [f"'{io.name}' {io.dtype}" for io in compiled.inputs if io.slot >= 0]:
        raise InputError(
            f"no random value for {', '.join(objects)}", hint="models of tensors of numbers can be measured"
        )
    feeds = random_of_onnx(model, {io.name: io.shape for io in compiled.inputs}, settings.seed)
    timings: list[Timing] = []
    for count in threads:
        runners: list[Runner] = [Gecc(compiled, count), *(PEERS[peer](model, count) for peer in peers)]
        try:
            check(runners, feeds, settings.tolerance)
            timings += measure(runners, feeds, count, settings)
        finally:
            for runner in runners:
                runner.close()
    return timings


def check(runners: Sequence[Runner], feeds: Mapping[str, NDArray[Any]], tolerance: float) -> None:
    """Compare the first runner's outputs with each other's. Raises WrongValues naming what differs."""
    found = runners[0].run(feeds)
    for peer in runners[1:]:
        wrong = [d for d in compare(found, peer.run(feeds)) if not d.within(tolerance)]
        if wrong:
            raise WrongValues(
                f"{runners[0].name} and {peer.name} differ: {'; '.join(map(_told, wrong))}",
                hint="times of wrong results mean nothing, none were taken",
            )


def _told(difference: Difference) -> str:
    return f"'{difference.name}' by {difference.max_rel:.3e} of its greatest magnitude"


def measure(
    runners: Sequence[Runner], feeds: Mapping[str, NDArray[Any]], threads: int, settings: Settings
) -> list[Timing]:
    """Times of all runners, in turns; the first is what the others are related to."""
    times: list[list[float]] = [[] for _ in runners]
    in_round: list[list[float]] = [[] for _ in runners]
    for turn in range(settings.rounds):
        order = list(enumerate(runners))
        for i, runner in order[turn % len(order) :] + order[: turn % len(order)]:
            time.sleep(settings.settle)
            runner.run(feeds)
            taken = _turn(runner, feeds, settings)
            times[i] += taken
            in_round[i].append(statistics.median(taken))
    timings: list[Timing] = []
    for runner, taken, medians in zip(runners, times, in_round, strict=True):
        median = statistics.median(taken)
        lower, _, upper = statistics.quantiles(taken, n=4) if len(taken) > 1 else (median, median, median)
        ratio = statistics.median(its / ours for its, ours in zip(medians, in_round[0], strict=True))
        timings.append(Timing(runner.name, threads, median, lower, upper, len(taken), ratio))
    return timings


def _turn(runner: Runner, feeds: Mapping[str, NDArray[Any]], settings: Settings) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + settings.turn_seconds
    while len(times) < settings.per_turn:
        start = time.perf_counter()
        if times and start > end:
            break
        runner.run(feeds)
        times.append(time.perf_counter() - start)
    return times


def rows(timings: Sequence[Timing]) -> list[tuple[str, ...]]:
    """The lines of a table; times in microseconds or milliseconds, whichever suits."""
    return [
        (
            str(t.threads),
            t.runtime,
            spell(t.median),
            f"{spell(t.lower)} - {spell(t.upper)}",
            f"{t.ratio:.2f}",
        )
        for t in timings
    ]


def spell(seconds: float) -> str:
    """A time in microseconds or milliseconds, whichever suits."""
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def as_json(timings: Sequence[Timing]) -> list[dict[str, Any]]:
    """The timings as plain data, times in seconds."""
    return [asdict(t) for t in timings]
