"""A process that turns LLVM IR text into machine code: `python -m gecc.codegen.worker`, driven by `object.py`.

llvmlite is imported in `Compiler` and nowhere else. LLVM holds one lock, its options are process-wide, and a fatal error ends
the process: so it has processes of its own. Standard input carries requests, standard output the answers, both framed
as one line of JSON followed by as many raw bytes as the line's "bytes" says.

    request  {"triple", "cpu", "features", "assembly", "bytes"} + IR text
    answer   {"bytes"} + object (or assembly), or {"error", "bytes": 0}
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from llvmlite.binding import TargetMachine

OPTIONS = ("-enable-misched=false", "-pre-RA-sched=source")
"""LLVM options. Both schedulers hoist the broadcasts of a micro-kernel over its multiply-adds, which spills
accumulators and halves the speed; without them source order is kept."""

OPT_LEVEL = 3
"""Level of LLVM's code generator. No IR pass runs: the text arrives as it shall be."""


def read_frame(stream: IO[bytes]) -> tuple[dict[str, object], bytes] | None:
    """The next frame's header and payload, or None at the end of the stream."""
    line = stream.readline()
    if not line:
        return None
    header = json.loads(line)
    payload = stream.read(header["bytes"])
    if len(payload) != header["bytes"]:
        return None
    return header, payload


def write_frame(stream: IO[bytes], header: dict[str, object], payload: bytes) -> None:
    """Write one frame and flush it."""
    stream.write(json.dumps(header | {"bytes": len(payload)}).encode() + b"\n")
    stream.write(payload)
    stream.flush()


class Compiler:
    """LLVM, set up. One for a process: its options, `more` beside `OPTIONS`, hold for all of it."""

    def __init__(self, more: Sequence[str] = ()) -> None:
        import llvmlite.binding as llvm

        for option in (*OPTIONS, *more):
            llvm.set_option("", option)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()
        self._llvm = llvm
        self._machines: dict[tuple[object, ...], TargetMachine] = {}

    def compile(self, request: Mapping[str, object], text: str) -> bytes:
        """An object, or assembly text, for a module. Raises RuntimeError when LLVM refuses it."""
        key = (request["triple"], request["cpu"], request["features"])
        if (machine := self._machines.get(key)) is None:
            machine = self._llvm.Target.from_triple(str(request["triple"])).create_target_machine(
                cpu=str(request["cpu"]),
                features=str(request["features"]),
                opt=OPT_LEVEL,
                reloc="pic",
                codemodel="small",
                jit=False,
            )
            self._machines[key] = machine
        module = self._llvm.parse_assembly(text)
        module.triple = str(request["triple"])
        module.data_layout = str(machine.target_data)
        module.verify()
        return machine.emit_assembly(module).encode() if request["assembly"] else machine.emit_object(module)


def channel() -> tuple[IO[bytes], IO[bytes]]:
    """Requests and answers of this process. Nothing else may write among the answers, LLVM's own messages included."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers


def main() -> None:
    """Answer requests until standard input ends."""
    requests, answers = channel()
    compiler = Compiler()
    while (frame := read_frame(requests)) is not None:
        header, payload = frame
        try:
            code = compiler.compile(header, payload.decode())
        except RuntimeError as error:  # what llvmlite raises for text that does not parse or verify
            write_frame(answers, {"error": str(error)}, b"")
        else:
            write_frame(answers, {}, code)


if __name__ == "__main__":
    main()
