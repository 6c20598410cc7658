"""The executor: results for any number of ranks, phases, errors, profiles, what models it refuses."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from gecc.errors import KernelError, OmError
from gecc.om.records import Operand, Space, WeightEntry, Weights
from gecc.om.verifier import verify
from gecc.runtime import abi
from gecc.runtime.cpus import Affinity
from gecc.runtime.executor import Executor
from gecc.runtime.profile import Profile


@pytest.mark.parametrize("affinity", ["auto", "none"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_ranks_do_not_change_results(make, x: np.ndarray, ranks: int, affinity: Affinity) -> None:
    """More ranks than CPUs must neither hang nor change a bit; block 0 is late in every phase."""
    with Executor(make.chain(9), threads=ranks, affinity=affinity) as executor:
        for _ in range(20):
            y = executor.run({"x0": x})["y0"]
            np.testing.assert_array_equal(y, make.shifted(x, 9))


def test_tasks_of_a_phase_are_all_done_before_the_next(make, x: np.ndarray) -> None:
    t, arena = make.task, make.arena
    tasks = [
        t("shifted", 0, make.graph_input(0), arena(0), 1),
        t("affine", 0, make.graph_input(0), arena(1), 3),
        t("shifted", 0, make.graph_input(0), arena(2), 7),
        t("shifted", 1, arena(1), make.graph_output(0), 50),
        t("shifted", 1, arena(2), make.graph_output(1), 30),
        t("shifted", 1, arena(0), make.graph_output(2), 20),
    ]
    model = make.model(tasks, outputs=3)
    a, b, c = 3 * x + np.float32(1), x + np.roll(x, -7), x + np.roll(x, -1)
    for ranks in (1, 2, 3):
        with Executor(model, threads=ranks) as executor:
            for _ in range(10):
                out = executor.run([x])
                assert list(out) == ["y0", "y1", "y2"]
                np.testing.assert_array_equal(out["y0"], a + np.roll(a, -50))
                np.testing.assert_array_equal(out["y1"], b + np.roll(b, -30))
                np.testing.assert_array_equal(out["y2"], c + np.roll(c, -20))


def test_scratch_is_aligned_and_of_each_rank(make) -> None:
    t = make.task
    tasks = [t("through_scratch", 0, make.graph_input(0), make.graph_output(i), 10 + i) for i in range(4)]
    with Executor(make.model(tasks, outputs=4), threads=3) as executor:
        for _ in range(50):
            out = executor.run([np.zeros(make.N, np.float32)])
            for i in range(4):
                np.testing.assert_array_equal(out[f"y{i}"], np.full(make.N, 2 * (10 + i), np.float32))


@pytest.mark.parametrize("ranks", [1, 2])
def test_floating_point_state_is_ours_in_the_run_and_the_callers_after(make, mxcsr, ranks: int) -> None:
    flush_to_zero, round_up = 0x9FC0, 0x5F80
    least = np.full(make.N, np.finfo(np.float32).tiny)
    model = make.model([make.task("denormal", 0, make.graph_input(0), make.graph_output(0), 0)])
    with Executor(model, threads=ranks) as executor:
        for state in (flush_to_zero, round_up):
            mxcsr.set(state)
            y = executor.run([least])["y0"]
            assert mxcsr.get() & ~0x3F == state & ~0x3F  # the low bits record what happened
            mxcsr.set(abi.MXCSR)
            np.testing.assert_array_equal(y.view(np.int32), np.full(make.N, 1 << 22))


def test_no_tasks_no_inputs(make) -> None:
    with Executor(make.model([], inputs=(), outputs=0)) as executor:
        assert executor.run({}) == {}
        assert executor.run([]) == {}
        assert executor.ranks == 1


def test_a_task_without_blocks_does_nothing(make, x: np.ndarray) -> None:
    t = make.task
    tasks = [
        t("affine", 0, make.graph_input(0), make.graph_output(0), 2),
        t("affine", 1, make.graph_input(0), make.graph_output(0), 9, blocks=0),
    ]
    for ranks in (1, 2):
        with Executor(make.model(tasks), threads=ranks) as executor:
            np.testing.assert_array_equal(executor.run([x])["y0"], 2 * x + np.float32(1))


class TestErrors:
    def model(self, make):
        t = make.task
        tasks = [
            t("affine", 0, make.graph_input(1), make.arena(1), 2),
            t("checked", 1, make.graph_input(0, 8), make.arena(0), 40),
            t("affine", 2, make.arena(0), make.graph_output(0), 1),
        ]
        return make.model(tasks, inputs=("i64", "f32"))

    @pytest.mark.parametrize("ranks", [1, 2, 3])
    @pytest.mark.parametrize("bad_at", [0, 50, 95])
    def test_a_bad_index_raises_and_the_executor_stays_usable(self, make, ranks: int, bad_at: int) -> None:
        good = np.arange(make.N) % 40
        bad = good.copy()
        bad[bad_at] = 41
        x = np.zeros(make.N, np.float32)
        with Executor(self.model(make), threads=ranks) as executor:
            for _ in range(5):
                with pytest.raises(KernelError) as error:
                    executor.run([bad, x])
                assert "Checked: index 41 is out of range, expected -40 <= index < 40" in str(error.value)
                assert "task 1 'Checked' of 'by_hand', ONNX nodes: 'onnx/1'" in str(error.value)
                y = executor.run([good, x])["y0"]
                np.testing.assert_array_equal(y, good.astype(np.float32) + 1)

    @pytest.mark.parametrize("ranks", [1, 2, 3])
    def test_the_first_task_in_order_is_blamed(self, make, ranks: int) -> None:
        t = make.task
        tasks = [t("checked", 0, make.graph_input(0, 8), make.arena(i), limit) for i, limit in enumerate((99, 30, 20))]
        with Executor(make.model(tasks, inputs=("i64",), outputs=0), threads=ranks) as executor:
            for _ in range(10):
                with pytest.raises(KernelError, match=r"expected -30 <= index < 30(.|\n)*task 1 "):
                    executor.run([np.full(make.N, 50)])

    def test_later_phases_do_not_run(self, make) -> None:
        profile = Profile()
        with Executor(self.model(make), threads=2) as executor:
            with pytest.raises(KernelError):
                executor.run([np.full(make.N, 99), np.zeros(make.N, np.float32)], profile=profile)
        assert [any(span is not None for span in task.ranks) for task in profile.last] == [True, True, False]

    def test_unknown_codes_are_told(self) -> None:
        assert abi.describe(77, 1, 2) == "unknown error code 77 (value 1, limit 2)"


class TestProfile:
    def test_times_per_task_and_rank(self, make, x: np.ndarray) -> None:
        profile = Profile()
        with Executor(make.chain(4), threads=2) as executor:
            np.testing.assert_array_equal(executor.run([x], profile=profile)["y0"], make.shifted(x, 4))
            executor.run([x], profile=profile)
            executor.run([x])
        assert len(profile.runs) == 2
        for tasks in profile.runs:
            assert [task.phase for task in tasks] == [0, 1, 2, 3]
            assert [task.onnx_names for task in tasks] == [(f"onnx/{i}",) for i in range(4)]
            assert {task.label for task in tasks} == {"Shifted"}
            for task in tasks:
                assert len(task.ranks) == 2
                assert all(span is not None and 0 <= span[0] <= span[1] for span in task.ranks)
                assert 0 < task.wall_ns < 5e9
                assert task.cpu_ns >= max(end - start for start, end in filter(None, task.ranks))
            ends = [max(end for _, end in filter(None, task.ranks)) for task in tasks]
            starts = [min(start for start, _ in filter(None, task.ranks)) for task in tasks]
            assert all(start >= end for end, start in zip(ends, starts[1:], strict=False)), "phases overlap"

    def test_the_unit_is_a_nanosecond(self, make, x: np.ndarray) -> None:
        profile = Profile()
        with Executor(make.chain(400), threads=1, affinity="none") as executor:
            executor.run([x])
            before = time.perf_counter_ns()
            executor.run([x], profile=Profile())
            executor.run([x], profile=profile)
            elapsed = time.perf_counter_ns() - before
        first, last = profile.last[0].ranks[0], profile.last[-1].ranks[0]
        assert first is not None
        assert last is not None
        assert 400 * 1000 < last[1] - first[0] < elapsed  # 500 pauses take a microsecond at the very least

    def test_no_blocks_no_time(self, make) -> None:
        profile = Profile()
        task = make.task("affine", 0, make.graph_input(0), make.graph_output(0), 1, blocks=0)
        with Executor(make.model([task]), threads=2) as executor:
            executor.run([np.zeros(make.N, np.float32)], profile=profile)
        assert profile.last[0].ranks == (None, None)
        assert profile.last[0].wall_ns == 0


class TestModels:
    def test_another_abi_is_refused_with_both_numbers(self, make) -> None:
        with pytest.raises(OmError, match=f"ABI is {abi.ABI + 1}, this runtime supports 1 to {abi.ABI}"):
            Executor(replace(make.chain(2), abi=abi.ABI + 1))

    def test_another_machine_is_refused_in_words(self, make) -> None:
        with pytest.raises(OmError, match="compiled for aarch64, which needs a CPU of type aarch64"):
            Executor(replace(make.chain(2), target="aarch64"))
        with pytest.raises(OmError, match=r"target 'pdp11' is not known(.|\n)*x86-64-v3"):
            Executor(replace(make.chain(2), target="pdp11"))

    def test_a_missing_dispatcher_is_named(self, make) -> None:
        model = make.chain(2)
        kernels = tuple(kernel for kernel in model.kernels if kernel.name != abi.WORKER)
        with pytest.raises(OmError, match="no dispatcher entry 'gecc_worker'"):
            Executor(replace(model, kernels=kernels))
        with pytest.raises(OmError, match="the dispatcher is 'affine', expected 'gecc_run'"):
            Executor(replace(model, dispatcher="affine", tasks=()))

    def test_tasks_may_not_launch_the_dispatcher(self, make) -> None:
        task = make.task("gecc_worker", 0, make.graph_input(0), make.graph_output(0), 1)
        with pytest.raises(OmError, match="task 0 'Gecc_worker' launches the dispatcher's 'gecc_worker'"):
            Executor(make.model([task]))

    def test_operands_outside_their_space_are_refused(self, make) -> None:
        task = make.task("affine", 0, make.graph_input(0), make.arena(99), 1)
        with pytest.raises(OmError, match="do not fit"):
            Executor(make.model([task]))

    def test_weights_are_read_where_they_lie_or_copied_to_aligned_memory(self, make) -> None:
        values = np.arange(make.N, dtype=np.float32)
        entry = WeightEntry("w", 512, 4 * make.N, "f32", (make.N,))
        task = make.task("affine", 0, Operand(Space.WEIGHTS, 512, 4 * make.N), make.graph_output(0), 2)
        model = make.model([task], inputs=())
        base = np.zeros(512 + 4 * make.N + 128, np.uint8)
        start = -base.ctypes.data % 64
        for shift in (0, 3):
            room = base[start + shift : start + shift + 512 + 4 * make.N]
            room[512:] = values.view(np.uint8)
            weights = Weights.of_view([entry], room.data.toreadonly())
            verify(replace(model, weights=weights))
            with Executor(replace(model, weights=weights)) as executor:
                np.testing.assert_array_equal(executor.run({})["y0"], 2 * values + 1)
        streamed = Weights((entry,), 512 + 4 * make.N, lambda: [(512, values.tobytes())])
        with Executor(replace(model, weights=streamed)) as executor:
            np.testing.assert_array_equal(executor.run({})["y0"], 2 * values + 1)

    def test_stats(self, make) -> None:
        model = make.chain(3)
        with Executor(model, threads=2, affinity="none") as executor:
            stats = executor.stats
        assert (stats.tasks, stats.phases, stats.ranks, stats.cpus) == (3, 3, 2, ())
        assert (stats.arena_bytes, stats.scratch_bytes) == (model.arena_bytes, 2 * model.scratch_bytes)
        assert stats.code_bytes == len(model.blob)
