"""Half a minute of hostile files; `make fuzz` takes longer."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from gecc.errors import OmError
from gecc.om.reader import from_bytes
from test.fuzz.__main__ import main
from test.fuzz.bases import bases, portable_bases
from test.fuzz.check import check
from test.fuzz.files import Parts
from test.fuzz.kernels import bind, portable_mutants
from test.fuzz.mutate import mutants
from test.fuzz.text import check_text, text_mutants, text_of


def test_mutants_end_in_an_error_in_words_or_a_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["--count", "40000", "--seconds", "25", "--jobs", "2", "--cuts", "--keep", str(tmp_path)])
    assert code == 0, capfd.readouterr().out


def test_mutants_of_kernels_end_in_an_error_in_words_or_a_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Portable files: their kernels are changed, admitted or not, compiled, and launched by tasks that were changed."""
    code = main(["--portable", "--count", "80", "--seconds", "40", "--jobs", "2", "--keep", str(tmp_path)])
    assert code == 0, capfd.readouterr().out


def test_mutants_of_kernels_reach_all_that_holds_them() -> None:
    """Those of one file: some are no kernels, some do not compile, some run into their operands' ends, some run."""
    base = portable_bases()[2]
    seen = {check(data, base.feeds) for _, data in islice(portable_mutants(Parts.of(base.data), 4), 60)}
    assert seen == {"refused", "failed", "ran"}


@pytest.mark.parametrize("base", portable_bases(), ids=lambda base: base.name)
def test_the_good_portable_files_run_and_survive_resealing(base) -> None:
    assert check(base.data, base.feeds, ranks=2) == "ran"
    parts = Parts.of(base.data)
    bind(parts)
    assert parts.sealed() == base.data


@pytest.mark.parametrize("base", bases(), ids=lambda base: base.name)
def test_the_good_files_run_and_survive_resealing(base) -> None:
    assert check(base.data, base.feeds, ranks=2) == "ran"
    assert Parts.of(base.data).sealed() == base.data


def test_mutants_reach_the_checks_behind_the_checksum() -> None:
    """A harness whose files all fail at the same place would find nothing."""
    seen: set[str] = set()
    texts: list[str] = []
    for base in bases()[:3]:
        for _, data in islice(mutants(Parts.of(base.data), 7), 600):
            try:
                from_bytes(data, verify="full")
            except OmError as error:
                seen.add(" ".join(error.message.split()[:4]))
                texts.append(error.message)
    assert len(seen) > 60
    for words in ("the kernels were emitted with tasks of", "do not fit the", "the checksum is"):
        assert any(words in text for text in texts), words


def test_memory_is_fenced() -> None:
    """What the guards of the harness rest on: one byte past the end is not there."""
    import os
    import signal

    from gecc.runtime.pages import Pages

    pages = Pages(100, "test")
    assert pages.address % 64 == 0
    for at in (-4096 - 64, pages.size):
        pid = os.fork()
        if pid == 0:
            import ctypes

            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            ctypes.memset(pages.address + at, 1, 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGSEGV
    pages.close()


@pytest.mark.parametrize("name", ["rows", "loop", "host", "gears"])
def test_mutants_of_text_end_in_an_error_in_words_or_an_om(name: str, tmp_path: Path) -> None:
    base = next(base for base in bases() if base.name == name)
    text = text_of(base, tmp_path)
    path = tmp_path / "mutant.mlir"
    assert check_text(text, path)
    read = [check_text(mutant, path) for mutant in islice(text_mutants(text, 1), 400)]
    assert 0 < sum(read) < len(read)
