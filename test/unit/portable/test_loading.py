"""Loading portable oms: the compiler's processes, its absence, the cache, and what executors share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gecc
from gecc import api
from gecc.codegen import portable
from gecc.codegen.cache import ObjectCache
from gecc.codegen.object import Worker, WorkerPool, compile_ir
from gecc.codegen.portable.worker import check_frame
from gecc.errors import CodegenError, GeccError, OmError
from gecc.om.reader import read
from gecc.om.records import KernelEntry
from gecc.runtime import executor
from gecc.target import host
from test.unit.portable.harness import N, kernel, run
from test.unit.portable.harness import portable as portable_om

X = np.arange(N, dtype=np.float32)
COPY = kernel(
    """
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xf32>
    tile.store %v, %y[%i] : memref<?xf32>
  }""",
    "n",
)


@pytest.fixture
def om(tmp_path: Path) -> Path:
    """A portable om on disk, written by hand."""
    path = tmp_path / "net.om"
    api.Model(portable_om(COPY, params=(N,))).save(path)
    return path


def test_a_file_runs_in_executors_and_their_clones(om: Path) -> None:
    with gecc.load(om, threads=1) as first, first.clone() as second:
        assert not first.model.portable
        assert second.model is first.model
        np.testing.assert_array_equal(first.run({"x": X})["y"], X)
        np.testing.assert_array_equal(second.run({"x": X + 1})["y"], X + 1)


def test_poison_sees_nothing(om: Path) -> None:
    with gecc.load(om, poison=True) as one:
        np.testing.assert_array_equal(one.run({"x": X})["y"], X)


def test_an_error_names_task_and_node() -> None:
    with pytest.raises(GeccError) as caught:
        run(portable_om(COPY, params=(N + 1,)), X)
    assert "by hand: an access outside operand 0 of 160 bytes" in str(caught.value)
    assert "task 0 'by hand' of 'by hand', ONNX nodes: 'node'" in str(caught.value)


def test_an_executor_goes_on_after_a_violation() -> None:
    text = COPY.replace(
        "tile.lanes %i = %zero to %n",
        "%f = tile.load %x[%zero] : memref<?xf32>\n%j = arith.fptosi %f : f32 to i64\n%m = arith.index_cast %j : i64 to index\ntile.lanes %i = %zero to %m",
    )
    with gecc.load(portable_om(text, params=(N,)), threads=1) as one:
        for first, fails in ((3, False), (99, True), (5, False)):
            x = np.full(N, first, np.float32)
            if fails:
                with pytest.raises(GeccError, match="an access outside operand 0"):
                    one.run({"x": x})
            else:
                assert one.run({"x": x})["y"][first - 1] == first


def test_the_runtime_alone_says_that_it_compiles_nothing(om: Path) -> None:
    with pytest.raises(OmError, match="the runtime alone compiles nothing") as caught:
        executor.load(om)
    assert "pip install 'gecc[compile]'" in str(caught.value)
    with pytest.raises(OmError, match="the runtime alone compiles nothing"):
        executor.Executor(read(om))


def test_without_the_compiler_the_error_says_so(om: Path, tmp_path: Path) -> None:
    """A Python that has numpy and protobuf and no other package."""
    site = tmp_path / "site"
    site.mkdir()
    import google.protobuf

    (site / "google").mkdir()
    (site / "google" / "protobuf").symlink_to(Path(google.protobuf.__file__).parent)
    upb = Path(google.protobuf.__file__).parents[1] / "_upb"
    if upb.exists():
        (site / "google" / "_upb").symlink_to(upb)
    packages = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs"):
        if (packages / name).exists():
            (site / name).symlink_to(packages / name)
    root = Path(gecc.__file__).parents[1]
    code = (
        "import gecc, gecc.errors, sys\n"
        "try: gecc.load(sys.argv[1])\n"
        "except gecc.errors.GeccError as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(om)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{root}:{site}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "OmError its kernels are portable and must be compiled, for which the package xdsl is missing"
    )
    assert "pip install 'gecc[compile]'" in done.stdout


class _Counting(ObjectCache):
    """A cache that knows how often something was stored."""

    stored = 0

    def put(self, key: str, payload: bytes) -> None:
        self.stored += 1
        super().put(key, payload)


def test_a_kernel_is_compiled_once(tmp_path: Path) -> None:
    store = _Counting(tmp_path / "objects")
    model = portable_om(COPY, params=(N,))
    first = portable.compile_model(model, "it", store=store)
    count = store.stored
    assert count == 3  # the kernel and the dispatcher's two modules
    assert portable.compile_model(model, "it", store=store) == first
    assert store.stored == count
    portable.compile_model(model, "it", store=store, max_steps=5)  # other code
    assert store.stored == count + 1


def test_a_process_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(WorkerPool):
        def take(self) -> Worker:
            worker = super().take()
            os.kill(worker.process.pid, signal.SIGKILL)
            return worker

    monkeypatch.setattr(portable, "_workers", Killed("gecc.codegen.portable.worker"))
    with pytest.raises(CodegenError, match="the code generator's process ended with status -9") as caught:
        portable.compile_model(portable_om(COPY, params=(N,)), "the file", store=None)
    assert "the file, kernel 'k'" in str(caught.value)


def test_a_kernel_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portable, "SECONDS", 0.01)
    monkeypatch.setattr(portable, "_workers", WorkerPool("gecc.codegen.portable.worker"))
    with pytest.raises(CodegenError, match=r"took longer than 0\.01 seconds"):
        portable.compile_model(portable_om(COPY, params=(N,)), "the file", store=None)
    monkeypatch.setattr(portable, "SECONDS", 100.0)
    assert portable.compile_model(portable_om(COPY, params=(N,)), "the file", store=None).kernels


def test_much_stack_is_refused() -> None:
    body = """
define void @{name}(ptr %args, i64 %begin, i64 %end, ptr %scratch, ptr %state) nounwind "frame-pointer"="all" {{
  %room = alloca [{size} x i8], align 64
  store ptr %room, ptr %scratch
  call void asm sideeffect "", "~{{memory}}"()
  ret void
}}"""
    small, large = compile_ir([body.format(name="k", size=size) for size in (30_000, 70_000)], host())
    check_frame(small, "k")
    with pytest.raises(CodegenError, match=r"takes 7\d\d\d\d bytes of stack, expected at most 65536"):
        check_frame(large, "k")


def test_a_kernel_of_many_values_at_once_is_refused() -> None:
    """All are loaded before any is used, so that each takes a place on the stack."""
    count = 1100
    lines = ["%zero = arith.constant 0 : index", "tile.lanes %i = %zero to %n {"]
    lines += [f"  %v{i} = tile.load %x[%i] : memref<?xf32>" for i in range(count)]
    lines += [f"  %s{count - 1} = arith.addf %v{count - 1}, %v{count - 1} : f32"]
    lines += [f"  %s{i} = arith.addf %s{i + 1}, %v{i} : f32" for i in reversed(range(count - 1))]
    lines += ["  tile.store %s0, %y[%i] : memref<?xf32>", "}"]
    with pytest.raises(CodegenError, match=r"the kernel takes \d+ bytes of stack, expected at most 65536"):
        portable.compile_model(portable_om(kernel("\n".join(lines), "n"), params=(N,)), "it", store=None)


def test_no_kernels_at_all(tmp_path: Path) -> None:
    """All that is left of a model may be copies of nothing."""
    from dataclasses import replace

    empty = replace(portable_om(COPY, params=(N,)), blob=b"", kernels=(), tasks=())
    api.Model(empty).save(tmp_path / "empty.om")
    with gecc.load(tmp_path / "empty.om") as one:
        assert one.run({"x": X})["y"].shape == (N,)


def test_many_kernels_are_refused() -> None:
    from dataclasses import replace

    model = portable_om(COPY, params=(N,))
    entries = tuple(KernelEntry(f"k{i}", 0, len(model.blob)) for i in range(portable.MAX_KERNELS + 1))
    with pytest.raises(CodegenError, match="portable kernels, expected at most"):
        portable.compile_model(replace(model, kernels=entries), "it")
