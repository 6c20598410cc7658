"""Plans within a limit, the other options of memory planning, and what the report shows of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

from gecc import api
from gecc.errors import MemoryLimitError
from gecc.pipeline import MemoryOptions
from gecc.tools.gecc_translate import main
from test.models.nasnet import nasnet
from test.models.unet import unet
from test.unit.tools.conftest import call  # noqa: F401


@cache
def images(size: int) -> dict[str, np.ndarray]:
    return {"input": np.random.default_rng(0).standard_normal((1, 3, size, size), np.float32)}


@cache
def cells() -> api.Model:
    """A net with many branches, planned as it comes."""
    return api.compile(nasnet(24, 8, 1))


def run(model: api.Model, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    with api.load(model, threads=2, affinity="none") as executor:
        return executor.run(feeds)


def wide(parts: int = 6, size: int = 4096) -> ModelProto:
    """y = sum over parts of tanh(x * k) ** 2 * tanh(x): tanh(x) is cheap and needed late, sums are needed all along."""
    nodes = [helper.make_node("Tanh", ["x"], ["kept"])]
    constants = {}
    total = "kept"
    for i in range(parts):
        constants[f"w{i}"] = np.random.default_rng(i).standard_normal((size, 8)).astype(np.float32) / 64
        constants[f"v{i}"] = np.random.default_rng(99 - i).standard_normal((8, size)).astype(np.float32)
        nodes += [
            helper.make_node("MatMul", [total, f"w{i}"], [f"a{i}"]),
            helper.make_node("MatMul", [f"a{i}", f"v{i}"], [f"b{i}"]),
        ]
        total = f"b{i}"
    nodes.append(helper.make_node("Mul", [total, "kept"], ["m"]))
    nodes.append(helper.make_node("ReduceSum", ["m"], ["y"], keepdims=0))
    graph = helper.make_graph(
        nodes,
        "wide",
        [helper.make_tensor_value_info("x", 1, [8, size])],
        [helper.make_tensor_value_info("y", 1, [])],
        [numpy_helper.from_array(a, n) for n, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_reuse_changes_no_bit() -> None:
    model, feeds, plain = nasnet(24, 8, 1), images(24), cells()
    apart = api.compile(model, memory=MemoryOptions(disable_reuse=True))
    assert apart.om.arena_bytes == plain.om.attrs["memory_sum"]
    assert apart.om.arena_bytes > plain.om.arena_bytes
    for name, array in run(plain, feeds).items():
        assert array.tobytes() == run(apart, feeds)[name].tobytes()


@pytest.mark.parametrize("effort", ["fast", "best"])
def test_effort_changes_no_bit(effort: str) -> None:
    model, feeds, plain = nasnet(24, 8, 1), images(24), cells()
    other = api.compile(model, memory=MemoryOptions(effort=effort))
    for name, array in run(plain, feeds).items():
        assert array.tobytes() == run(other, feeds)[name].tobytes()
    if effort == "best":
        assert other.om.arena_bytes <= plain.om.arena_bytes


class TestLimit:
    def test_one_that_holds_already_changes_nothing(self) -> None:
        model = unet(32, 4, 2)
        plain = api.compile(model)
        limited = api.compile(model, memory=MemoryOptions(limit=plain.om.arena_bytes))
        assert [t.operands for t in limited.om.tasks] == [t.operands for t in plain.om.tasks]  # pyright: ignore[reportAttributeAccessIssue]

    def test_one_that_needs_work_is_met(self) -> None:
        """Cheap work is done again rather than kept."""
        model = wide()
        plain = api.compile(model)
        limit = plain.om.arena_bytes - 8 * 4096 * 4
        limited = api.compile(model, memory=MemoryOptions(limit=limit))
        assert limited.om.arena_bytes <= limit < plain.om.arena_bytes
        feeds = {"x": np.random.default_rng(5).standard_normal((8, 4096), np.float32)}
        np.testing.assert_array_equal(run(limited, feeds)["y"], run(plain, feeds)["y"])

    def test_one_that_cannot_be_met_is_an_error_that_names_the_tensors(self) -> None:
        plain = api.compile(unet(32, 4, 2))
        with pytest.raises(
            MemoryLimitError, match=r"takes at least \d+ bytes, \d+ more than the limit of 4096.*phase \d+"
        ) as e:
            api.compile(unet(32, 4, 2), memory=MemoryOptions(limit=4096))
        assert "Conv2DRelu (" in str(e.value)
        assert "bytes)" in str(e.value)
        assert plain.om.arena_bytes > 4096

    def test_the_same_limit_gives_the_same_bytes(self) -> None:
        options = MemoryOptions(limit=1 << 20)
        one, two = (api.compile(unet(32, 4, 2), memory=options).to_bytes() for _ in range(2))
        assert one == two


def test_slack_changes_no_bit() -> None:
    model = nasnet(24, 8, 1)
    plain, loose = cells(), api.compile(model, memory=MemoryOptions(slack=50))
    assert loose.om.phases <= plain.om.phases
    assert loose.om.attrs["memory_lower_bound"] <= 1.5 * plain.om.attrs["memory_lower_bound"]  # pyright: ignore[reportOperatorIssue]
    for name, array in run(plain, images(24)).items():
        assert array.tobytes() == run(loose, images(24))[name].tobytes()


class TestTools:
    @pytest.fixture
    def onnx(self, tmp_path: Path) -> Path:
        (tmp_path / "m.onnx").write_bytes(unet(32, 4, 2).SerializeToString())
        return tmp_path / "m.onnx"

    def test_the_report_as_text(self, call, onnx: Path) -> None:  # noqa: F811
        done = call(main, onnx, "--memory-report")
        assert done.code == 0, done.err
        for word in ("arena", "lower bound", "no reuse", "in place", "fullest"):
            assert any(line.startswith(word) for line in done.out.splitlines())
        assert sorted(p.name for p in onnx.parent.iterdir()) == ["m.onnx"]

    @pytest.mark.parametrize("suffix", ["html", "svg"])
    def test_the_report_as_a_picture(self, call, onnx: Path, tmp_path: Path, suffix: str) -> None:  # noqa: F811
        om, picture = tmp_path / "m.om", tmp_path / f"m.{suffix}"
        done = call(main, onnx, "-o", om, "--memory-report", picture)
        assert done.code == 0, done.err
        text = picture.read_text()
        drawing = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
        buffers = [r for r in drawing.iter() if r.tag.endswith("rect") and any(c.tag.endswith("title") for c in r)]
        from gecc.om.reader import read

        assert len(buffers) - 1 == read(om).attrs["memory_buffers"]  # one is the fullest phase
        assert "/down.0/conv.0" in text
        bottom = max(float(r.attrib["y"]) + float(r.attrib["height"]) for r in buffers)
        assert bottom == pytest.approx(520, abs=1)

    def test_an_om_cannot_be_planned_again(self, call, onnx: Path, tmp_path: Path) -> None:  # noqa: F811
        assert call(main, onnx, "-o", tmp_path / "m.om").code == 0
        assert call(main, tmp_path / "m.om", "--memory-report").code == 2

    def test_a_limit_for_what_is_planned_already_is_refused(self, call, onnx: Path, tmp_path: Path) -> None:  # noqa: F811
        assert call(main, onnx, "-O2", "--stage", "buffer", "-o", tmp_path / "b.mlir").code == 0
        done = call(main, tmp_path / "b.mlir", "-o", tmp_path / "n.om", "--memory-limit", "1M")
        assert done.code == 2
        assert "a memory limit needs a module whose memory is still to be planned" in done.err

    def test_limits_are_read_with_units(self, call, onnx: Path, tmp_path: Path) -> None:  # noqa: F811
        assert call(main, onnx, "-o", tmp_path / "m.om", "--memory-limit", "1M").code == 0
        done = call(main, onnx, "-o", tmp_path / "n.om", "--memory-limit", "1k")
        assert done.code == 1
        assert "more than the limit of 1024" in done.err
        assert not (tmp_path / "n.om").exists()
        assert call(main, onnx, "-o", tmp_path / "n.om", "--memory-limit", "1.5M").code == 2

    def test_flags_stand_in_the_file(self, call, onnx: Path, tmp_path: Path) -> None:  # noqa: F811
        from gecc.om.reader import read

        call(
            main, onnx, "-o", tmp_path / "m.om", "--disable-reuse-memory", "--memory-slack", "5", "--memory-effort=best"
        )
        line = read(tmp_path / "m.om").attrs["atc_cmdline"]
        assert str(line).endswith("--memory-effort=best --disable-reuse-memory --memory-slack=5")
