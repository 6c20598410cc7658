"""House rules that a reader should be able to rely on: where things are, how tests are spelt, who imports whom."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from gecc.passes import load_pass, pass_docstring, pass_files

ROOT = Path(__file__).resolve().parents[2]
CODE = ("gecc", "dialects", "passes", "tools", "test")
MAX_LINES = 600

DIRECTIVE = re.compile(r"(DAG|COUNT-\d+|NOT|EMPTY|NEXT|SAME|LABEL)")
COMMENT_WORD = re.compile(r"//\s*([A-Za-z][\w-]*)(\{LITERAL\})?(\s*:)?")


def python_files() -> list[Path]:
    """All Python files, each at its real path."""
    return sorted(
        {p for top in CODE for p in (ROOT / top).rglob("*.py") if (ROOT / "gecc" / "dialects") not in p.parents}
    )


def lit_files() -> list[Path]:
    return sorted((ROOT / "test").rglob("*.mlir"))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ---- tests say what they mean


def misspelt(text: str) -> Iterator[str]:
    """Lines of a lit test that look like a check but are none: FileCheck would skip them without a word."""
    prefixes = {"CHECK"}
    for given in re.findall(r"--check-prefix(?:es)?[= ]([\w,-]+)", text):
        prefixes.update(given.split(","))
    first: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if (match := COMMENT_WORD.search(line)) is None or "RUN:" in line:
            continue
        word, _, colon = match.groups()
        prefix = max((p for p in prefixes if word == p or word.startswith(f"{p}-")), key=len, default=None)
        if prefix is not None:
            suffix = word[len(prefix) + 1 :]
            if suffix and not DIRECTIVE.fullmatch(suffix):
                yield f"{number}: unknown directive {word}"
            elif colon != ":":
                yield f"{number}: {word} is not followed at once by a colon"
            elif first.setdefault(prefix, suffix) in ("NEXT", "SAME"):
                yield f"{number}: the first {prefix} line says {suffix}, but there is no line before it"
        elif colon and word.isupper() and any(word.startswith(p) or _similar(word, p) for p in prefixes):
            yield f"{number}: {word} looks like one of {', '.join(sorted(prefixes))}"


def _similar(word: str, prefix: str) -> bool:
    head = word.split("-")[0] if "-" in word else word
    return max(SequenceMatcher(None, word, prefix).ratio(), SequenceMatcher(None, head, prefix).ratio()) >= 0.8


@pytest.mark.parametrize("path", lit_files(), ids=relative)
def test_checks_are_spelt_right(path: Path) -> None:
    assert list(misspelt(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    ["// CHECK-NXT: a", "// CHEKC: a", "// CHECK a", "// CHECK-NEXT : a", "// CHECK-COUNT: a", "// CHECKNEXT: a",
     "// CHECK_NEXT: a", "// CHECK-NEXT: nothing before"],
)  # fmt: skip
def test_the_lint_sees_misspellings(line: str) -> None:
    assert list(misspelt(f"// RUN: gecc-opt %s | filecheck %s\n{line}\n"))


@pytest.mark.parametrize(
    "text",
    ["// CHECK: a\n// CHECK-NEXT: b", "// RUN: x --check-prefix=PASS\n// PASS: a\n// PASS-DAG: b", "// CHECK-COUNT-3: a",
     "// This is prose: nothing to check.", "// CHECK{LITERAL}: [[a]]", "// NOTE: capitals alone are no check"],
)  # fmt: skip
def test_the_lint_lets_good_lines_pass(text: str) -> None:
    assert list(misspelt(text)) == []


# ---- a pass is where its name says, says what it does, and is tested


@pytest.mark.parametrize("name", list(pass_files()))
def test_pass_is_what_its_path_says(name: str) -> None:
    assert load_pass(name).name == name


@pytest.mark.parametrize("name", list(pass_files()))
def test_pass_shows_ir_before_and_after(name: str) -> None:
    text = pass_docstring(name)
    blocks = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    assert blocks, f"the docstring of {name} shows no IR in a ```mlir block"
    assert len(blocks) > 1 or any("// becomes" in block for block in blocks), f"{name} shows no IR after `// becomes`"
    assert re.match(r"\S.*[.]$", text.splitlines()[0]), f"the docstring of {name} does not begin with a sentence"


@pytest.mark.parametrize("name", list(pass_files()))
def test_pass_has_a_lit_test(name: str) -> None:
    from test.mutate import lit_tests

    assert lit_tests(name), f"test/passes/ has no file for {name}"


def test_lit_tests_of_passes_have_a_pass() -> None:
    from test.mutate import pass_of_test

    orphans = [relative(p) for p in sorted((ROOT / "test" / "passes").rglob("*.mlir")) if pass_of_test(p) is None]
    assert orphans == []


def test_pipelines_name_passes_that_exist() -> None:
    from gecc.pipeline import PIPELINES, parse_passes

    for level, specs in PIPELINES.items():
        assert [str(step) for step in parse_passes(specs)] == list(specs), level


# ---- files


def test_files_are_short() -> None:
    lengths = {relative(p): len(p.read_text(encoding="utf-8").splitlines()) for p in python_files()}
    assert {path: n for path, n in lengths.items() if n > MAX_LINES} == {}


def test_imports_are_absolute_and_by_gecc() -> None:
    wrong: list[str] = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
                if node.level:
                    wrong.append(f"{relative(path)}:{node.lineno} is relative")
            elif isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            else:
                continue
            if any(name.split(".")[0] in ("dialects", "passes", "tools") for name in names):
                wrong.append(f"{relative(path)}:{node.lineno} does not import through gecc")
    assert wrong == []


# ---- imports


def run_python(code: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("inside", [True, False], ids=["repository", "elsewhere"])
def test_imports_from_any_directory(inside: bool, tmp_path: Path) -> None:
    code = "import gecc.passes, gecc.dialects.ge, gecc.tools.gecc_opt; print(gecc.passes.load_pass('ge-cse').name)"
    assert run_python(code, ROOT if inside else tmp_path) == "ge-cse\n"


@pytest.mark.parametrize("name", ["dialects", "passes", "tools"])
def test_folders_refuse_to_be_imported_by_their_own_name(name: str) -> None:
    code = f"try: import {name}\nexcept ImportError as error: print(error)"
    assert run_python(code, ROOT) == f"import gecc.{name}, not {name}\n"


def test_layers() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


GRAPH = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.Const dense<3.0> : tensor<f32>
  %0 = ge.Add(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""

LOADED = """
import sys
from gecc.tools.gecc_opt import main
try:
    code = main({argv})
except SystemExit as stop:
    code = stop.code
heavy = sorted(set(m.split(".")[0] for m in sys.modules) & {{"numpy", "onnx", "llvmlite", "google", "ml_dtypes"}})
print("CODE", code, "HEAVY", heavy)
"""


@pytest.mark.parametrize(
    "options", [["--help"], ["--list-passes"], ["--print-pipeline", "-O0"], ["FILE"], ["FILE", "-p", "ge-cse,ge-dce"]]
)
def test_gecc_opt_starts_light(options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH, encoding="utf-8")
    argv = [str(path) if option == "FILE" else option for option in options]
    assert run_python(LOADED.format(argv=argv), tmp_path).endswith("CODE 0 HEAVY []\n")


def cpu_seconds(code: str, cwd: Path) -> float:
    """The least CPU time of three processes that run `code`."""
    measured = "import resource, sys\n" + code + "\nu = resource.getrusage(resource.RUSAGE_SELF)\n"
    measured += "print('\\nCPU', u.ru_utime + u.ru_stime)"
    return min(float(run_python(measured, cwd).rsplit("CPU", 1)[1]) for _ in range(3))


def test_start_up_costs_little_more_than_xdsl(tmp_path: Path) -> None:
    """A bound in seconds would measure the machine: xDSL's own driver is the measure."""
    path = tmp_path / "graph.mlir"
    path.write_text(GRAPH, encoding="utf-8")
    xdsl = cpu_seconds("import xdsl.xdsl_opt_main, xdsl.parser, xdsl.printer, xdsl.dialects.func", tmp_path)
    main = "from gecc.tools.gecc_opt import main\n"
    assert cpu_seconds(main + f"main([{str(path)!r}])", tmp_path) < 2.0 * xdsl
    assert cpu_seconds(main + "main(['--list-passes'])", tmp_path) < 1.0 * xdsl
