"""python -m test.fuzz.coverage_guided [-max_total_time=1800] [folder]: the loader under atheris, coverage-guided.

Inputs are whole files, and files resealed after mutation, so that both the container's own checks and those behind the
checksum are explored. Flags are libFuzzer's. Needs the package atheris.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris  # pyright: ignore[reportMissingImports]

with atheris.instrument_imports(include=["gecc.om", "gecc.runtime"]):  # pyright: ignore[reportAttributeAccessIssue]
    from test.fuzz.check import check  # brings the loader along: what is imported here is what is explored

from test.fuzz.bases import bases
from test.fuzz.files import Parts

FEEDS = {base.name: base.feeds for base in bases()}
GOOD = {base.name: Parts.of(base.data) for base in bases()}
NAMES = sorted(GOOD)


def one(data: bytes) -> None:
    """First byte: which good file, and whether to reseal; then the file, or its MODEL_DEF or TASK_INFO."""
    if not data:
        return
    name = NAMES[data[0] % len(NAMES)]
    how, rest = data[0] // len(NAMES) % 3, data[1:]
    if how == 0:
        check(rest, FEEDS[name])
        return
    parts = GOOD[name].copy()
    parts.raw[0 if how == 1 else 2] = rest or b"\0"
    check(parts.sealed(), FEEDS[name])


def main() -> None:
    """Fuzz, from the good files as a corpus."""
    folder = tempfile.mkdtemp(prefix="gecc-fuzz-")
    for i, base in enumerate(sorted(bases(), key=lambda b: b.name)):
        parts = Parts.of(base.data)
        for how, data in enumerate((base.data, parts.raw[0], parts.raw[2])):
            (Path(folder) / f"{i}-{how}").write_bytes(bytes((i + how * len(NAMES),)) + data)
    # seconds by the wall clock, on a machine that may be busy: check.py's caller measures CPU time
    flags = ["-max_len=20000", "-timeout=20", f"-artifact_prefix={folder}/finding-"]
    atheris.Setup([sys.argv[0], *flags, *sys.argv[1:], folder], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
