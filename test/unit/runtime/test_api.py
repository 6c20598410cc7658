"""Runs asked for ahead, results into given arrays, DLPack, clones, figures, traces."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from gecc.errors import GeccError, InputError
from gecc.runtime.executor import Executor
from gecc.runtime.pool import Clock
from gecc.runtime.profile import Profile, chrome_trace


class Capsule:
    """What a tensor of another library offers: DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class TestAsync:
    def test_runs_go_in_order_and_give_what_run_gives(self, make, x: np.ndarray) -> None:
        order: list[int] = []
        with Executor(make.chain(3), threads=2) as executor:
            futures = [executor.run_async([x + np.float32(i)]) for i in range(20)]
            for i, future in enumerate(futures):
                future.add_done_callback(lambda _, i=i: order.append(i))
            for i, future in enumerate(futures):
                np.testing.assert_array_equal(future.result(60)["y0"], make.shifted(x + np.float32(i), 3))
        assert order == sorted(order)

    def test_the_future_raises_what_run_raises(self, make, x: np.ndarray) -> None:
        with Executor(make.chain(2), threads=1) as executor:
            future = executor.run_async([x[:5]])
            with pytest.raises(InputError, match=r"shape \[5\]"):
                future.result(60)
            np.testing.assert_array_equal(executor.run_async([x]).result(60)["y0"], make.shifted(x, 2))

    def test_close_waits_for_what_was_asked_for(self, make, x: np.ndarray) -> None:
        executor = Executor(make.chain(50), threads=2)
        futures = [executor.run_async([x]) for _ in range(30)]
        executor.close()
        assert all(future.done() for future in futures)
        np.testing.assert_array_equal(futures[-1].result()["y0"], make.shifted(x, 50))
        with pytest.raises(GeccError, match="is closed"):
            executor.run_async([x])

    def test_closed_by_a_callback_the_executor_ends_behind_what_was_asked_for(self, make, x: np.ndarray) -> None:
        executor = Executor(make.chain(100), threads=2)
        futures = [executor.run_async([x]) for _ in range(10)]
        said: list[BaseException | None] = []

        def close(_: object) -> None:
            try:
                executor.close()
                executor.close()
                executor.run_async([x])
            except BaseException as error:  # a future would swallow it
                said.append(error)

        futures[1].add_done_callback(close)
        for future in futures:
            np.testing.assert_array_equal(future.result(60)["y0"], make.shifted(x, 100))
        executor.close()
        assert [str(error) for error in said] == [f"the executor of '{executor.model.name}' is closed"]
        with pytest.raises(GeccError, match="is closed"):
            executor.run([x])

    def test_whoever_closes_waits_for_what_was_asked_for(self, make, x: np.ndarray) -> None:
        executor = Executor(make.chain(100), threads=1)
        futures = [executor.run_async([x]) for _ in range(20)]
        closers = [threading.Thread(target=executor.close) for _ in range(4)]
        for closer in closers:
            closer.start()
        for closer in closers:
            closer.join(60)
        assert [future.exception(0) for future in futures] == [None] * 20

    def test_a_forked_child_starts_its_own_queue(self, make, x: np.ndarray) -> None:
        with Executor(make.chain(2), threads=2) as executor:
            executor.run_async([x]).result(60)
            pid = os.fork()
            if pid == 0:
                try:
                    good = np.array_equal(executor.run_async([x]).result(30)["y0"], make.shifted(x, 2))
                    os._exit(0 if good else 1)
                finally:
                    os._exit(2)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


class TestOutputs:
    def test_results_go_into_the_given_array(self, make, x: np.ndarray) -> None:
        mine = np.full(make.N, np.nan, np.float32)
        with Executor(make.chain(2), threads=2) as executor:
            found = executor.run([x], outputs={"y0": mine})
            assert found["y0"] is mine
            np.testing.assert_array_equal(mine, make.shifted(x, 2))
            assert executor.run_async([x * 2], outputs={"y0": mine}).result(60)["y0"] is mine
            np.testing.assert_array_equal(mine, make.shifted(x * 2, 2))

    def test_everything_wrong_is_told_at_once(self, make, x: np.ndarray) -> None:
        n = make.N
        frozen = np.zeros(n, np.float32)
        frozen.flags.writeable = False
        cases: list[tuple[Any, str]] = [
            (np.zeros(n), rf"'y0' is float64\[{n}\], expected float32\[{n}\]"),
            (np.zeros((1, n), np.float32), rf"'y0' is float32\[1, {n}\], expected"),
            (np.zeros(2 * n, np.float32)[::2], "'y0' is not contiguous"),
            (frozen, "'y0' is not writeable"),
            (np.zeros(4 * n + 1, np.uint8)[1:].view(np.float32), "'y0' is not aligned"),
            ([0.0] * n, "'y0' is list, expected a numpy array"),
            (x, "'y0' shares memory with an input"),
        ]
        with Executor(make.chain(2), threads=1) as executor:
            for array, message in cases:
                with pytest.raises(InputError, match="'z' is not an output of the model; " + message):
                    executor.run([x], outputs={"y0": array, "z": x})

    @pytest.mark.parametrize("given", [[np.zeros(3)], np.zeros(3), "y0"])
    def test_no_mapping(self, make, x: np.ndarray, given: Any) -> None:
        with (
            Executor(make.chain(2), threads=1) as executor,
            pytest.raises(InputError, match=f"found {type(given).__name__}, expected a mapping from names to arrays"),
        ):
            executor.run([x], outputs=given)

    def test_two_outputs_may_not_share(self, make, x: np.ndarray) -> None:
        tasks = [make.task("affine", 0, make.graph_input(0), make.graph_output(i), i + 1) for i in (0, 1)]
        both = np.zeros(make.N + 4, np.float32)
        with Executor(make.model(tasks, outputs=2), threads=1) as executor:
            with pytest.raises(InputError, match="'y1' shares memory with 'y0'"):
                executor.run([x], outputs={"y0": both[4:], "y1": both[:-4]})
            found = executor.run([x], outputs={"y1": both[4:]})
        np.testing.assert_array_equal(found["y0"], x + np.float32(1))
        np.testing.assert_array_equal(both[4:], x * np.float32(2) + np.float32(1))


class TestDlpack:
    def test_a_tensor_that_knows_only_dlpack(self, make, x: np.ndarray) -> None:
        with Executor(make.chain(2), threads=1) as executor:
            np.testing.assert_array_equal(executor.run({"x0": Capsule(x)})["y0"], make.shifted(x, 2))
            with pytest.raises(InputError, match=r"shape \[3\]"):
                executor.run([Capsule(x[:3])])

    def test_memory_of_a_device_is_refused_in_words(self, make, x: np.ndarray) -> None:
        class Elsewhere(Capsule):
            def __dlpack_device__(self) -> tuple[int, int]:
                return (2, 0)

        with Executor(make.chain(2), threads=1) as executor:
            with pytest.raises(InputError, match="'x0' cannot be taken over DLPack"):
                executor.run([Elsewhere(x)])

    def test_what_another_library_raises_is_told_in_words(self, make, x: np.ndarray) -> None:
        class Torn(Capsule):
            def __array__(self, *options: Any) -> np.ndarray:
                raise TypeError("Got unsupported ScalarType BFloat16")

        class Homeless:
            def __dlpack__(self, **options: Any) -> Any:
                raise AssertionError

        with Executor(make.chain(2), threads=1) as executor:
            with pytest.raises(InputError, match="'x0' is no array: Got unsupported ScalarType BFloat16"):
                executor.run([Torn(x)])
            with pytest.raises(InputError, match=r"'x0' cannot be taken over DLPack: .*__dlpack_device__"):
                executor.run([Homeless()])

    def test_results_offer_it(self, make, x: np.ndarray) -> None:
        with Executor(make.chain(2), threads=1) as executor:
            result = executor.run([x])["y0"]
        np.testing.assert_array_equal(np.from_dlpack(result), result)


class TestClones:
    def test_clones_run_at_once_and_share_code_and_weights(self, make, x: np.ndarray) -> None:
        first = Executor(make.chain(3), threads=1)
        clones = [first.clone(), first.clone(threads=2)]
        assert [c.ranks for c in clones] == [1, 2]
        assert all(c._resident is first._resident for c in clones)
        assert clones[0]._bases != first._bases
        failures: list[int] = []

        def hammer(executor: Executor, seed: int) -> None:
            own = x + np.float32(seed)
            for i in range(50):
                if not np.array_equal(executor.run([own])["y0"], make.shifted(own, 3)):
                    failures.append(i)

        threads = [threading.Thread(target=hammer, args=(e, i)) for i, e in enumerate((first, *clones))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
        first.close()
        np.testing.assert_array_equal(clones[0].run([x])["y0"], make.shifted(x, 3))
        with pytest.raises(GeccError, match="is closed"):
            first.clone()
        assert clones[0]._resident.code.address("gecc_run") > 0
        for clone in clones:
            clone.close()
        assert clones[0]._resident.code._pages.address == 0


def test_figures_of_runs(make, x: np.ndarray) -> None:
    with Executor(make.chain(3), threads=1) as executor:
        assert (executor.stats.runs, executor.stats.total_ns) == (0, 0)
        for _ in range(3):
            executor.run([x])
        stats = executor.stats
        assert stats.runs == 3
        assert 0 < stats.last_ns < stats.total_ns


def test_measuring_the_clock_is_no_part_of_a_run(make, x: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(clock: Clock, window_ns: int) -> float:
        time.sleep(0.5)
        return 1.0

    monkeypatch.setattr(Clock, "ticks_per_ns", slow)
    with Executor(make.chain(3), threads=1) as executor:
        executor.run([x], profile=Profile())
        assert executor.stats.last_ns < 400_000_000


@pytest.mark.parametrize("profile", [True, [], {}])
def test_no_profile(make, x: np.ndarray, profile: Any) -> None:
    with Executor(make.chain(3), threads=1) as executor:
        with pytest.raises(InputError, match=r"profile is .*, expected a gecc\.runtime\.profile\.Profile"):
            executor.run([x], profile=profile)
        assert executor.stats.runs == 0


def test_a_trace_has_an_event_for_each_rank_of_each_task(make, x: np.ndarray) -> None:
    profile = Profile()
    with Executor(make.chain(3), threads=2, affinity="none") as executor:
        for _ in range(2):
            executor.run([x], profile=profile)
    trace = json.loads(json.dumps(chrome_trace(profile.runs)))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(events) == 2 * 3 * 2
    assert {event["tid"] for event in events} == {0, 1}
    assert [e["args"]["onnx"] for e in events[:2]] == [["onnx/0"], ["onnx/0"]]
    assert all(event["dur"] > 0 for event in events)
    first = max(e["ts"] + e["dur"] for e in events if e["args"]["run"] == 0)
    assert min(e["ts"] for e in events if e["args"]["run"] == 1) >= first - 1e-9
    names = [event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"]
    assert names == ["rank 0", "rank 1"]
