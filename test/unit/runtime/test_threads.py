"""Threads: callers, workers, where they run, and when they end."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from gecc.errors import GeccError, InputError, KernelError
from gecc.runtime import pool
from gecc.runtime.executor import Executor


class TestThreads:
    def test_many_callers_of_one_and_of_several_executors(self, make, x: np.ndarray) -> None:
        executors = [Executor(make.chain(3), threads=ranks) for ranks in (1, 2, 3)]
        failures: list[object] = []

        def hammer(seed: int) -> None:
            own = x + np.float32(seed)
            want = make.shifted(own, 3)
            for i in range(25):
                got = executors[(seed + i) % 3].run([own])["y0"]
                if not np.array_equal(got, want):
                    failures.append((seed, i))

        threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a run hangs"
        assert failures == []
        for executor in executors:
            executor.close()

    def test_the_pool_can_be_shut_down_between_runs(self, make, x: np.ndarray) -> None:
        with Executor(make.chain(3), threads=2) as executor:
            executor.run([x])
            workers = [thread for thread in threading.enumerate() if thread.name.startswith("gecc-")]
            assert workers
            pool.shutdown()
            assert not any(thread.is_alive() for thread in workers)
            np.testing.assert_array_equal(executor.run([x])["y0"], make.shifted(x, 3))

    def test_workers_sleep_and_wake(self, make, x: np.ndarray) -> None:
        with Executor(make.chain(3), threads=3) as executor:
            for pause in (0, 0.0001, 0.0003, 0.001, 0.02) * 4:
                time.sleep(pause)
                np.testing.assert_array_equal(executor.run([x])["y0"], make.shifted(x, 3))
            time.sleep(0.01)
            before = time.process_time()
            time.sleep(0.2)
            assert time.process_time() - before < 0.05, "idle workers burn CPU"

    def test_closing_one_executor_leaves_the_others(self, make, x: np.ndarray) -> None:
        """The pool's workers idle in code copied from the first model: it must outlive that model."""
        pool.shutdown()
        first = Executor(make.chain(2), threads=2)
        first.run([x])
        first.close()
        first.close()
        with pytest.raises(GeccError, match="the executor of 'by_hand' is closed"):
            first.run([x])
        with Executor(make.chain(3), threads=2) as second:
            np.testing.assert_array_equal(second.run([x])["y0"], make.shifted(x, 3))


class TestAffinity:
    def test_the_callers_mask_is_restored_after_runs_and_errors(self, make, x: np.ndarray) -> None:
        before = os.sched_getaffinity(0)
        task = make.task("checked", 0, make.graph_input(0, 8), make.graph_output(0), 5)
        with (
            Executor(make.chain(3), threads=2) as good,
            Executor(make.model([task], inputs=("i64",)), threads=2) as bad,
        ):
            good.run([x])
            assert os.sched_getaffinity(0) == before
            with pytest.raises(KernelError):
                bad.run([np.full(make.N, 9)])
            assert os.sched_getaffinity(0) == before

    def test_workers_go_where_the_plan_says(self, make, x: np.ndarray) -> None:
        cpu = max(os.sched_getaffinity(0))

        def worker_mask() -> set[int]:
            (worker,) = [t for t in threading.enumerate() if t.name == "gecc-1"]
            assert worker.native_id is not None
            return os.sched_getaffinity(worker.native_id)

        with Executor(make.chain(3), threads=2, affinity=[cpu, cpu]) as pinned:
            np.testing.assert_array_equal(pinned.run([x])["y0"], make.shifted(x, 3))
            assert worker_mask() == {cpu}
            with Executor(make.chain(3), threads=2, affinity="none") as free:
                free.run([x])
                assert worker_mask() == os.sched_getaffinity(0)
            pinned.run([x])
            assert worker_mask() == {cpu}

    @pytest.mark.parametrize(
        ("affinity", "message"),
        [
            ("fast", "affinity is 'fast', expected 'auto', 'none' or a list of CPUs"),
            ([0], r"affinity names 1 CPUs \[0\], expected one for each of 2 ranks"),
            ([0, 100_000], "affinity names CPU 100000, which this process cannot use"),
            ([0, -1], "affinity names CPU -1"),
            (0, "affinity is 0, expected 'auto', 'none' or a list of CPUs"),
            (None, "affinity is None, expected 'auto', 'none' or a list of CPUs"),
        ],
    )
    def test_what_cannot_be_had_is_refused(self, make, affinity, message: str) -> None:
        before = os.sched_getaffinity(0)
        with pytest.raises(InputError, match=message):
            Executor(make.chain(2), threads=2, affinity=affinity)
        assert os.sched_getaffinity(0) == before

    @pytest.mark.parametrize("threads", [0, -1, 2.0, True, 5000])
    def test_threads_that_make_no_sense(self, make, threads) -> None:
        with pytest.raises(InputError, match=rf"threads is {threads!r}, expected an integer from 1 to"):
            Executor(make.chain(2), threads=threads)

    def test_no_more_ranks_than_have_work(self, make) -> None:
        task = make.task("affine", 0, make.graph_input(0), make.graph_output(0), 1, blocks=1)
        with Executor(make.model([task])) as executor:
            assert executor.ranks == 1
