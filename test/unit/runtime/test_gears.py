"""Gears: in each of its sizes a model gives, bit for bit, what one compiled for that size alone gives."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import onnx
import pytest

import gecc
import gecc.errors
from gecc import api, translate
from gecc.context import make_context
from gecc.errors import InputError, ShapeError
from gecc.gears import gears_of
from gecc.om.gears import arenas
from gecc.om.reader import from_bytes
from gecc.om.writer import to_bytes
from gecc.om_ir import from_model, to_model
from gecc.runtime.profile import Profile
from gecc.weights import store_of
from test.unit.runtime.gear_models import CASES, Shapes, conv_net, feeds, graph, several_inputs, strings


def same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Equal in names, types, shapes and every bit."""
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        assert found[name].tobytes() == array.tobytes(), name


def alone(model: onnx.ModelProto, shapes: Shapes, given: dict[str, np.ndarray], level: str) -> dict[str, np.ndarray]:
    """What the model compiled for one size gives."""
    with gecc.load(gecc.compile(model, input_shapes=shapes, opt_level=level), threads=1, affinity="none") as executor:
        return executor.run(given)


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("name", CASES)
def test_every_gear_gives_what_its_size_alone_gives(name: str, level: str) -> None:
    make, gears = CASES[name]
    model = make()
    data = gecc.compile(model, gears=gears, opt_level=level).to_bytes()
    compiled = from_bytes(data, verify="full")
    given = [feeds(model, shapes, seed) for seed, shapes in enumerate(gears)]
    expected = [alone(model, shapes, x, level) for shapes, x in zip(gears, given, strict=True)]
    for ranks, poison in ((1, False), (2, False), (1, True)):
        with gecc.load(compiled, threads=ranks, affinity="none", poison=poison) as executor:
            for turn in (*range(len(gears)), 0, len(gears) - 1):
                same(executor.run(given[turn]), expected[turn])


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_the_same_after_a_trip_through_text(name: str) -> None:
    make, gears = CASES[name]
    data = gecc.compile(make(), gears=gears).to_bytes()
    ctx = make_context()
    module = from_model(from_bytes(data), store_of(ctx))
    assert to_bytes(to_model(module, store_of(ctx))) == data


def test_gears_and_types_are_told() -> None:
    gears = [{"x": (1, 3, 8, 8)}, {"x": (4, 3, 10, 8)}]
    model = gecc.compile(conv_net(), gears=gears)
    assert [dict(gear) for gear in model.gears] == gears
    assert model.inputs[0].shape == (-1, 3, -1, 8)
    assert model.outputs[1].shapes == ((1, 8, 4, 4), (4, 8, 5, 4))
    with gecc.load(model) as executor:
        assert [dict(gear) for gear in executor.gears] == gears
    assert gecc.compile(conv_net(), input_shapes=gears[0]).gears == ()


def test_an_open_size_is_given_by_each_gear_and_the_rest_once() -> None:
    shapes = {"x": (-1, 7), "z": (-1,), "w": (7,), "scale": ()}
    model = several_inputs()
    one = gecc.compile(model, input_shapes=shapes, gears=[{"x": (2, 7), "z": (3,)}, {"x": (4, 7), "z": (1,)}])
    two = gecc.compile(model, gears=gecc.dims_gears(shapes, [(2, 3), (4, 1)]))
    assert one.to_bytes() == two.to_bytes()


def test_sizes_of_no_gear_are_refused_with_the_gears_and_the_nearest() -> None:
    model = gecc.compile(conv_net(), gears=gecc.batch_gears({"x": (-1, 3, 8, 8)}, [1, 2, 4, 8]))
    with gecc.load(model) as executor:
        for n, nearest in ((3, 2), (7, 3), (100, 3)):
            with pytest.raises(InputError) as e:
                executor.run([np.zeros((n, 3, 8, 8), np.float32)])
            text = str(e.value)
            assert f"no gear of the model takes x[{n}, 3, 8, 8]; the nearest is gear {nearest}: x[" in text
            assert "0: x[1, 3, 8, 8]; 1: x[2, 3, 8, 8]; 2: x[4, 3, 8, 8]; 3: x[8, 3, 8, 8]" in text
        with pytest.raises(InputError, match="no gear of the model takes x\\[3, 8, 8\\]"):
            executor.run({"x": np.zeros((3, 8, 8), np.float32)})
        with pytest.raises(InputError, match="element type float64, expected float32"):
            executor.run({"x": np.zeros((1, 3, 8, 8))})
        with pytest.raises(InputError, match="'x' is missing"):
            executor.run({})
        with pytest.raises(InputError, match="'z' is not an input"):
            executor.run({"x": np.zeros((1, 3, 8, 8), np.float32), "z": np.zeros(1)})
        with pytest.raises(InputError, match="expected a mapping"):
            executor.run(3)  # pyright: ignore[reportArgumentType]
        assert executor.run([np.zeros((2, 3, 8, 8), np.float32)])["y"].shape == (2, 5)  # as before


def test_inputs_that_do_not_choose_are_held_to_the_gear() -> None:
    model = several_inputs()
    shapes = CASES["several"][1]
    with gecc.load(gecc.compile(model, gears=shapes)) as executor:
        given = feeds(model, shapes[1])
        with pytest.raises(InputError, match=r"'w' has shape \[6\], expected \[7\]"):
            executor.run({**given, "w": np.zeros(6, np.float32)})
        # sizes of two gears mixed are no gear
        with pytest.raises(InputError, match=r"no gear of the model takes x\[3, 7\], z\[5\]"):
            executor.run({**given, "x": np.zeros((3, 7), np.float32)})


def test_all_ways_to_run() -> None:
    model = conv_net()
    gears = [{"x": (n, 3, 8, 8)} for n in (1, 4, 2)]
    given = [feeds(model, shapes, n) for n, shapes in enumerate(gears)]
    with gecc.load(gecc.compile(model, gears=gears), threads=2, affinity="none") as executor:
        expected = [executor.run(x) for x in given]
        twin = executor.clone()
        futures = [(n % 3, twin.run_async(given[n % 3])) for n in range(9)]
        for n, future in futures:
            same(future.result(), expected[n])
        out = np.empty((4, 5), np.float32)
        assert executor.run(given[1], outputs={"y": out})["y"] is out
        assert out.tobytes() == expected[1]["y"].tobytes()
        with pytest.raises(InputError, match=r"'y' is float32\[4, 5\], expected float32\[1, 5\]"):
            executor.run(given[0], outputs={"y": out})
        profile = Profile()
        executor.run(given[2], profile=profile)
        ran = {task.index for task in profile.last if task.wall_ns}
        labels = [t.index for t in profile.last if t.label.startswith("label ")]
        assert ran and all(labels[2] < index < labels[3] for index in ran)
        twin.close()


def test_many_threads_with_a_gear_each() -> None:
    model = conv_net()
    gears = [{"x": (n, 3, 8, 8)} for n in range(1, 5)]
    given = [feeds(model, shapes, n) for n, shapes in enumerate(gears)]
    wrong: list[int] = []
    with gecc.load(gecc.compile(model, gears=gears), threads=2, affinity="none") as executor:
        expected = [executor.run(x) for x in given]

        def work(n: int) -> None:
            for _ in range(50):
                found = executor.run(given[n])
                if any(found[name].tobytes() != expected[n][name].tobytes() for name in found):
                    wrong.append(n)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_objects_pass_through_gears() -> None:
    gears = [{"x": (1, 3)}, {"x": (6, 3)}]
    model = strings()
    words = np.array(["a", "bc"], object)
    with gecc.load(gecc.compile(model, gears=gears)) as executor:
        for shapes in gears:
            x = feeds(model, shapes)["x"]
            found = executor.run({"s": words, "x": x})
            assert found["t"].tolist() == ["aa", "bcbc"]
            np.testing.assert_array_equal(found["y"], np.maximum(x, 0))


def test_one_arena_and_one_copy_of_the_weights() -> None:
    """Sharing: the arena is the largest gear's, weights are there once."""
    model = conv_net()
    gears = [{"x": (n, 3, 16, 16)} for n in (1, 2, 4, 8)]
    joined = gecc.compile(model, gears=gears).om
    single = [gecc.compile(model, input_shapes=shapes).om for shapes in gears]
    assert joined.arena_bytes == max(om.arena_bytes for om in single)
    assert list(arenas(joined)) == [om.arena_bytes for om in single]
    assert joined.weights.size == max(om.weights.size for om in single)
    assert len(joined.kernels) < sum(len(om.kernels) for om in single) - 3 * 4  # less than all but the dispatchers
    assert memoryview(joined.blob).nbytes < sum(memoryview(om.blob).nbytes for om in single)


def test_a_hundred_gears() -> None:
    model = graph("net (float[n, 6] x) => (float[n, 4] y) { y = MatMul(x, w) }", w=np.ones((6, 4), np.float32))
    compiled = gecc.compile(model, gears=gecc.batch_gears({"x": (-1, 6)}, range(1, 101)))
    with gecc.load(compiled, threads=1) as executor:
        for n in (1, 2, 50, 99, 100):
            x = np.arange(n * 6, dtype=np.float32).reshape(n, 6)
            np.testing.assert_array_equal(executor.run([x])["y"], x @ np.ones((6, 4), np.float32))
        with pytest.raises(InputError, match="and 90 more"):
            executor.run([np.zeros((101, 6), np.float32)])


@pytest.mark.parametrize("stage", ["ge", "fused", "tile", "buffer"])
@pytest.mark.parametrize("name", ["conv", "loop", "host"])
def test_text_of_every_level_compiles_to_the_same_file(name: str, stage: str, tmp_path: Path) -> None:
    make, gears = CASES[name]
    path = tmp_path / "net.onnx"
    onnx.save(make(), path)
    whole = translate.read(str(path), "onnx", gears=gears_of(gears))
    translate.write_om(whole, str(tmp_path / "a.om"), opt_level="O2", target="host")
    part = translate.read(str(path), "onnx", gears=gears_of(gears))
    translate.lower(part, stage, opt_level="O2", target="host")
    translate.write_text(part, str(tmp_path / "x.mlir"), elide=False)
    translate.write_om(
        translate.read(str(tmp_path / "x.mlir"), "mlir"), str(tmp_path / "b.om"), opt_level="O2", target="host"
    )
    assert (tmp_path / "a.om").read_bytes() == (tmp_path / "b.om").read_bytes()


def test_errors_of_the_model_name_the_gear() -> None:
    with pytest.raises(ShapeError, match="gear 1"):
        gecc.compile(conv_net(), gears=[{"x": (1, 3, 8, 8)}, {"x": (1, 4, 8, 8)}])
    with pytest.raises(ShapeError, match="gear 0"):
        gecc.compile(several_inputs(), gears=[{"x": (1, 7)}, {"x": (2, 7)}])


def test_memory_limit_and_no_reuse_know_gears() -> None:
    from gecc.errors import MemoryLimitError
    from gecc.pipeline import MemoryOptions

    model = conv_net()
    gears = [{"x": (n, 3, 16, 16)} for n in (1, 4)]
    plain = gecc.compile(model, gears=gears).om
    given = [feeds(model, shapes) for shapes in gears]
    for options in (MemoryOptions(disable_reuse=True), MemoryOptions(limit=plain.arena_bytes)):
        with gecc.load(plain) as one, gecc.load(gecc.compile(model, gears=gears, memory=options)) as two:
            for x in given:
                same(two.run(x), one.run(x))
    with pytest.raises(MemoryLimitError):
        gecc.compile(model, gears=gears, memory=MemoryOptions(limit=plain.arena_bytes // 4))


def test_what_runs_where_is_told_of_gears_too() -> None:
    make, gears = CASES["host"]
    report, error = api.check(make(), gears=gears)
    assert error is None
    assert [p.op_type for p in report.host] == ["NonZero"]
    with pytest.raises(gecc.errors.UnsupportedError, match="NonZero"):
        gecc.compile(make(), gears=gears, host="forbid")


def test_portable_kernels_have_gears_too() -> None:
    make, gears = CASES["conv"]
    model = make()
    data = gecc.compile(model, gears=gears, kernels="portable").to_bytes()
    with gecc.load(gecc.compile(model, gears=gears)) as native, gecc.load(from_bytes_compiled(data)) as portable:
        for shapes in gears:
            given = feeds(model, shapes)
            same(portable.run(given), native.run(given))


def from_bytes_compiled(data: bytes) -> api.Model:
    from gecc.codegen.portable import compile_model

    return api.Model(compile_model(from_bytes(data), "the test", "host"))


class OnlyDlpack:
    """An array of another library: nothing but the protocol."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)  # pyright: ignore[reportCallIssue, reportArgumentType]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries_choose_a_gear() -> None:
    gears = [{"x": (1, 3, 8, 8)}, {"x": (2, 3, 8, 8)}]
    with gecc.load(gecc.compile(conv_net(), gears=gears)) as executor:
        for shapes in gears:
            x = feeds(conv_net(), shapes)["x"]
            same(executor.run([OnlyDlpack(x)]), executor.run({"x": x}))
            same(executor.run({"x": np.asfortranarray(x)}), executor.run({"x": x}))


def test_values_fixed_when_compiling_are_those_of_all_gears() -> None:
    model = graph("net (float[n, 6] x, int64[2] size) => (float[a, b] y) { e = Exp(x) y = Reshape(e, size) }")
    gears = [{"x": (2, 6)}, {"x": (5, 6)}]
    with gecc.load(gecc.compile(model, gears=gears, input_values={"size": [3, -1]})) as executor:
        for shapes in gears:
            x = feeds(model, shapes)["x"]
            (y,) = executor.run({"x": x}).values()
            assert y.shape == (3, x.size // 3)
            np.testing.assert_allclose(y.reshape(-1), np.exp(x).reshape(-1), rtol=1e-6)
        with pytest.raises(InputError, match="fixed to"):
            executor.run({"x": np.zeros((2, 6), np.float32), "size": np.array([6, 2])})


def test_other_outputs_than_the_models_own() -> None:
    gears = [{"x": (1, 3, 8, 8)}, {"x": (2, 3, 8, 8)}]
    model = gecc.compile(conv_net(), gears=gears, outputs=["g"])
    assert [(io.name, io.shapes) for io in model.outputs] == [("g", ((1, 8, 1, 1), (2, 8, 1, 1)))]


def test_an_error_of_a_kernel_names_its_node_in_any_gear() -> None:
    from gecc.errors import KernelError

    model = graph("net (int64[n] i) => (float[n] y) { y = Gather(t, i) }", t=np.arange(4, dtype=np.float32))
    model.graph.node[0].name = "pick"
    with gecc.load(gecc.compile(model, gears=[{"i": (1,)}, {"i": (3,)}])) as executor:
        for n in (1, 3):
            with pytest.raises(KernelError, match="index 9 is out of range") as e:
                executor.run([np.full(n, 9)])
            assert "pick" in str(e.value)
        np.testing.assert_array_equal(executor.run([np.array([3, 0, 1])])["y"], [3, 0, 1])


def test_outputs_whose_rank_depends_on_the_gear_are_refused_in_words() -> None:
    model = graph("net (float[n, 3] x) => (float[m] y) { e = Exp(x) y = Squeeze(e) }")
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.output[0].type.tensor_type.shape.dim.add().dim_param = "m"
    with pytest.raises(gecc.errors.UnsupportedError) as e:
        gecc.compile(model, gears=[{"x": (1, 3)}, {"x": (2, 3)}])
    assert "the gears do not make one model: the outputs of @Batch_0 and @Batch_1 are" in str(e.value)


def test_a_dimension_of_one_name_is_given_once() -> None:
    make, gears = CASES["transformer"]
    short = [{"ids": gear["ids"]} for gear in gears]
    assert gecc.compile(make(), gears=short).to_bytes() == gecc.compile(make(), gears=gears).to_bytes()
