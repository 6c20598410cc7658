"""Does a test notice when a rule is gone? Mutation testing of passes: `python -m test.mutate [PASS ...]`.

Every pattern class of every pass is switched off in turn, and every pass without patterns as a whole; then the
lit tests of that pass are run in this process. A rule whose absence no test notices is a survivor. The exit code is
1 when there are survivors or a pass has no test, 0 otherwise.
"""

from __future__ import annotations

import argparse
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from gecc.passes import load_pass, pass_files, pass_module
from gecc.rewrite import DISABLED, Pattern
from test.inprocess import NotUnderstood, run_test_file

ROOT = Path(__file__).resolve().parent
WHOLE_PASS = "(whole pass)"


def lit_tests(name: str) -> list[Path]:
    """The lit files of a pass: its mirror in test/passes, a file (with `<pass>_errors.mlir` and the like) or a folder."""
    level, _, stem = name.partition("-")
    folder, stem = ROOT / "passes" / level, stem.replace("-", "_")
    return [
        path for path in sorted(folder.rglob("*.mlir")) if pass_of_test(path) == f"{level}-{stem}".replace("_", "-")
    ]


def pass_of_test(path: Path) -> str | None:
    """The pass that a file in test/passes is about: the longest name of a pass that its path begins with."""
    level, *rest = path.relative_to(ROOT / "passes").with_suffix("").parts
    if not rest:
        return None
    stem = f"{level}-{rest[0].replace('_', '-')}"
    fits = [name for name in pass_files() if stem == name or (len(rest) == 1 and stem.startswith(f"{name}-"))]
    return max(fits, key=len, default=None)


def modules_of(name: str) -> list[ModuleType]:
    """The module of a pass and, when it is a package, all modules inside."""
    root = pass_module(name)
    found = [root]
    if hasattr(root, "__path__"):
        found += [import_module(info.name) for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")]
    return found


def patterns_of(name: str) -> list[str]:
    """Names of the concrete pattern classes of a pass: its own, and those it takes from a helper beside it."""
    classes = [
        cls
        for module in modules_of(name)
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, Pattern) and cls.__module__.startswith("gecc.passes.")
    ]
    return list(dict.fromkeys(cls.__name__ for cls in classes if not inspect.isabstract(cls) and hasattr(cls, "ops")))


@contextmanager
def without_pattern(pattern: str) -> Iterator[None]:
    """Switch one pattern class off."""
    DISABLED.add(pattern)
    try:
        yield
    finally:
        DISABLED.discard(pattern)


@contextmanager
def without_pass(name: str) -> Iterator[None]:
    """Make a pass do nothing."""
    cls = load_pass(name)
    original = cls.apply
    cls.apply = lambda self, ctx, op: None
    try:
        yield
    finally:
        cls.apply = original


def passes_all(tests: Sequence[Path]) -> bool:
    """Whether all tests pass. The first that fails ends the run."""
    return all(run_test_file(test).code == 0 for test in tests)


def check(name: str) -> list[str]:
    """Survivors of pass `name`, each as a line of text; prints what it does."""
    tests = lit_tests(name)
    if not tests:
        return [f"{name}: no test in test/passes/{name.partition('-')[0]}"]
    try:
        if not passes_all(tests):
            return [f"{name}: its tests fail before anything is changed"]
    except NotUnderstood as error:
        return [f"{name}: its tests need a shell ({error}), which cannot be run here"]
    survivors: list[str] = []
    patterns = patterns_of(name)
    for pattern in patterns or [WHOLE_PASS]:
        with without_pattern(pattern) if patterns else without_pass(name):
            survived = passes_all(tests)
        print(f"{'SURVIVED' if survived else 'caught  '}  {name}  {pattern}", flush=True)
        if survived:
            survivors.append(f"{name}: {pattern}")
    return survivors


def main(argv: Sequence[str] | None = None) -> int:
    """Check the passes named, or all."""
    parser = argparse.ArgumentParser("python -m test.mutate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("passes", nargs="*", metavar="PASS", help="passes to check (default: all)")
    names = parser.parse_args(argv).passes or list(pass_files())
    unknown = [name for name in names if name not in pass_files()]
    if unknown:
        parser.error(f"unknown pass {', '.join(unknown)}")
    survivors = [line for name in names for line in check(name)]
    print(f"{len(survivors)} survivors" if survivors else "no survivors")
    for line in survivors:
        print(f"  {line}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
