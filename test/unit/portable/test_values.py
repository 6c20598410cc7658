"""Portable oms give what native ones give, bit for bit where they are compiled for the same machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from gecc import api
from gecc.errors import GeccError
from gecc.om.graph import schema_of
from gecc.om.reader import read
from gecc.om.records import SCHEMA_OF_PAIRS, HostTask, SwitchTask
from gecc.target import TARGETS, load, supports
from test.fuzz.bases import models
from test.models.bert import bert
from test.models.lstm import unrolled_lstm
from test.models.mobilenet import mobilenet
from test.models.resnet import resnet
from test.unit.models.test_quantised import MODELS as QUANTISED
from test.unit.runtime.gear_models import CASES
from test.unit.runtime.gear_models import feeds as gear_feeds

Feeds = dict[str, Any]
HERE = [name for name, target in TARGETS.items() if not supports(target)]


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _bert() -> tuple[onnx.ModelProto, Feeds]:
    ids = np.arange(18).reshape(2, 9) % 50
    mask = np.ones((2, 9), np.int64)
    mask[1, 5:] = 0
    model = bert(hidden=32, heads=2, inner=48, layers=1, vocabulary=50, positions=16)
    return model, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def _functions() -> tuple[onnx.ModelProto, Feeds]:
    """Functions, integers, indices that depend on data, half floats."""
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        functions (float[5, 37] x, int64[3] i, int32[37] n) => (float[3, 37] a, int32[37] b, float16[5, 37] c, int32[5, 37] d) {
            s = Sin(x)
            e = Erf(s)
            t = Tanh(e)
            a = Gather(t, i)
            seven = Constant<value = int32 {7}>()
            q = Div(n, seven)
            m = Mod(n, seven)
            p = Mul(q, m)
            b = Pow(p, m)
            h = Cast<to = 10>(x)
            g = Mul(h, h)
            c = Exp(g)
            d = Cast<to = 6>(x)
        }""")
    feeds = {"x": floats(5, 37), "i": np.array([4, -5, 0]), "n": np.arange(37, dtype=np.int32) - 18}
    return model, feeds


WHOLE = ("resnet", "mobilenet", "bert")
"""Nets with many kernels, tried at one level."""
MODELS: dict[str, Callable[[], tuple[onnx.ModelProto, Feeds]]] = {
    "resnet": lambda: (resnet(18, 40, 12, 10), {"input": floats(1, 3, 40, 40)}),
    "mobilenet": lambda: (mobilenet(32, 10, width=0.25, last=64), {"input": floats(1, 3, 32, 32)}),
    "bert": _bert,
    "lstm": lambda: (model := unrolled_lstm(3, 20), {io.name: _of(io) for io in model.graph.input}),
    "functions": _functions,
    **{f"fuzz {name}": (lambda pair=pair: pair) for name, pair in models().items()},
    **{f"quantised {name}": (lambda pair=pair: pair) for name, pair in QUANTISED.items()},
}  # fmt: skip


def _of(io: onnx.ValueInfoProto) -> np.ndarray:
    return floats(*(d.dim_value for d in io.type.tensor_type.shape.dim))


def compiled(name: str, level: str, **options: Any) -> tuple[api.Model, Feeds]:
    model, feeds = MODELS[name]()
    shapes = {io.name: np.shape(feeds[io.name]) for io in model.graph.input}
    return api.compile(model, input_shapes=shapes, opt_level=level, **options), feeds


def outputs(model: api.Model, feeds: Feeds, ranks: int, target: str = "host") -> dict[str, Any]:
    with api.load(model, threads=ranks, affinity="none", target=target) as executor:
        return executor.run(feeds)


@pytest.mark.parametrize(
    ("name", "level"),
    [(name, level) for name in MODELS for level in ("O0", "O2") if level == "O2" or name not in WHOLE],
)
def test_the_same_bits_as_native(name: str, level: str) -> None:
    native, feeds = compiled(name, level)
    portable, _ = compiled(name, level, kernels="portable")
    assert portable.om.portable and portable.om.dispatcher == ""
    assert portable.om.tasks == native.om.tasks
    wanted = outputs(native, feeds, 1)
    for ranks in (1, 2):
        found = outputs(portable, feeds, ranks)
        for key, value in wanted.items():
            assert np.asarray(found[key]).tobytes() == np.asarray(value).tobytes(), f"{key} on {ranks} ranks"


def test_the_models_have_jumps_and_host_calls() -> None:
    """Of what the values above are worth."""
    kinds = {type(task) for name in MODELS if "fuzz" in name for task in compiled(name, "O2")[0].om.tasks}
    assert {SwitchTask, HostTask} <= kinds


@pytest.mark.skipif(len(HERE) < 2, reason="this CPU runs one target only")
@pytest.mark.parametrize("name", ["resnet", "bert", "functions"])
def test_it_moves_to_another_machine(name: str) -> None:
    """Tiled for wide registers, run with narrow ones: the register tiles spill, the numbers stay."""
    for made_for, run_on in ((HERE[0], HERE[-1]), (HERE[-1], HERE[-1]), (HERE[-1], "host")):
        portable, feeds = compiled(name, "O2", kernels="portable", target=made_for)
        native, _ = compiled(name, "O2", target=HERE[-1])
        wanted = outputs(native, feeds, 1)
        for key, value in outputs(portable, feeds, 2, run_on).items():
            if value.dtype.kind == "f":
                np.testing.assert_allclose(
                    value.astype("f8"), wanted[key].astype("f8"), rtol=1e-3, atol=1e-4 * (1 + np.abs(wanted[key]).max())
                )
            else:
                np.testing.assert_array_equal(value, wanted[key])


def test_a_target_that_this_machine_does_not_run() -> None:
    portable, _ = compiled("bert", "O2", kernels="portable")
    with pytest.raises(GeccError, match="cannot run code for aarch64 here"):
        api.load(portable, target="aarch64")


def test_the_target_of_a_file_is_only_a_wish() -> None:
    """One that nobody knows, or that is for another machine: kernels are compiled for this one."""
    from dataclasses import replace

    portable, feeds = compiled("bert", "O2", kernels="portable")
    wanted = outputs(portable, feeds, 1)
    for name in ("aarch64", "z80"):
        found = outputs(api.Model(replace(portable.om, target=name)), feeds, 1)
        for key, value in wanted.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)


def test_bytes_are_deterministic_and_hold_no_machine_code(tmp_path: Path) -> None:
    first, _ = compiled("resnet", "O2", kernels="portable")
    second, _ = compiled("resnet", "O2", kernels="portable")
    assert first.to_bytes() == second.to_bytes()
    first.save(tmp_path / "net.om")
    model = read(tmp_path / "net.om", verify="full")
    assert model.portable
    text = bytes(model.blob).decode("ascii")
    assert text.count("tile.kernel @") == len(model.kernels) > 3
    for kernel in model.kernels:
        assert text[kernel.offset : kernel.offset + kernel.size].startswith(f"tile.kernel @{kernel.name}(")


def test_a_native_om_is_written_as_before() -> None:
    native, _ = compiled("bert", "O2")
    portable, _ = compiled("bert", "O2", kernels="portable")
    assert (schema_of(native.om), schema_of(portable.om)) == (2, SCHEMA_OF_PAIRS)
    assert load(native.om.target).native


@pytest.mark.parametrize("name", CASES)
def test_gears(name: str) -> None:
    """One file for several sizes of its inputs."""
    make, gears = CASES[name]
    model = make()
    native, portable = (api.compile(model, gears=gears, kernels=form) for form in ("native", "portable"))
    assert schema_of(portable.om) == SCHEMA_OF_PAIRS
    with api.load(native, threads=1) as one, api.load(portable, threads=2) as two:
        for seed, shapes in enumerate(gears):
            given = gear_feeds(model, shapes, seed)
            wanted, found = one.run(given), two.run(given)
            for key, value in wanted.items():
                assert np.asarray(found[key]).tobytes() == np.asarray(value).tobytes(), f"{key} in gear {seed}"
