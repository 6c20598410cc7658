"""A process that compiles kernels of strangers: `python -m gecc.codegen.portable.worker`, driven by the package.

    request  {"triple", "cpu", "features", "name", "target", "max_steps", "bytes"} + text of a tile.kernel
    answer   {"memories", "scalars", "first_written", "bytes"} + object, or {"error", "bytes": 0}

Its memory is limited, the driver limits its time, and whatever breaks it breaks nothing else.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping

from xdsl.utils.exceptions import VerifyException

from gecc.codegen.emit import kernel_ir
from gecc.codegen.link import link
from gecc.codegen.portable.admit import admit, first_written
from gecc.codegen.worker import Compiler, channel, read_frame, write_frame
from gecc.errors import CodegenError, GeccError
from gecc.target import load

MAX_MEMORY = 4 << 30
MAX_IR = 16 << 20
"""Most characters of a kernel's LLVM IR."""
MAX_FRAME = 1 << 16
"""Most bytes of stack that a kernel may take: the thread that runs it has more."""

MORE_OPTIONS = ("-enable-shrink-wrap=false",)
"""LLVM then takes the stack of a function at its start, where `check_frame` looks."""

_PROLOGUE = 256
_SUB_RSP = b"\x48\x81\xec"  # sub rsp, imm32


def compile_text(compiler: Compiler, request: Mapping[str, object], text: str) -> tuple[dict[str, object], bytes]:
    """Signature and object of a kernel. Raises GeccError, and RuntimeError when LLVM refuses what the kernel became."""
    name = str(request["name"])
    kernel = admit(text, name)
    ir = kernel_ir(kernel, load(str(request["target"])), checked=True, max_steps=int(str(request["max_steps"])))
    if len(ir) > MAX_IR:
        raise CodegenError(f"the kernel becomes {len(ir)} characters of LLVM IR, expected at most {MAX_IR}")
    code = compiler.compile(dict(request) | {"assembly": False}, ir)
    check_frame(code, name)
    signature: dict[str, object] = {
        "memories": len(kernel.memories),
        "scalars": len(kernel.scalars),
        "first_written": first_written(kernel),
    }
    return signature, code


def check_frame(code: bytes, name: str) -> None:
    """Refuse a function that takes much stack, which a thread may not have. Raises CodegenError."""
    blob = link([code])
    start, _ = blob.symbols[name]
    prologue = blob.data[start : start + _PROLOGUE]
    at = -1
    while (at := prologue.find(_SUB_RSP, at + 1)) >= 0:
        size = int.from_bytes(prologue[at + 3 : at + 7], "little")
        if size > MAX_FRAME:
            raise CodegenError(f"the kernel takes {size} bytes of stack, expected at most {MAX_FRAME}")


def main() -> None:
    """Answer requests until standard input ends."""
    requests, answers = channel()
    compiler = Compiler(MORE_OPTIONS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while (frame := read_frame(requests)) is not None:
        header, payload = frame
        try:
            answer, code = compile_text(compiler, header, payload.decode())
        except GeccError as error:
            write_frame(answers, {"error": error.message}, b"")
        except VerifyException as error:  # a number that constants come to and that no number of its type is
            write_frame(answers, {"error": f"the kernel has no meaning: {error}"}, b"")
        except RecursionError:
            write_frame(answers, {"error": "the kernel is nested too deeply"}, b"")
        except MemoryError:
            write_frame(answers, {"error": f"compiling the kernel takes more than {MAX_MEMORY} bytes"}, b"")
        except RuntimeError as error:  # what llvmlite raises for text that does not parse or verify
            write_frame(answers, {"error": f"LLVM refused what the kernel became: {error}"}, b"")
        else:
            write_frame(answers, answer, code)


if __name__ == "__main__":
    main()
