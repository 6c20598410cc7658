"""The machine code of an om's kernels as text, beside the tile IR it was made from where that is at hand.

Portable kernels have no machine code: their tile IR is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gecc.errors import CliError, UnsupportedError
from gecc.om.records import KernelTask, OmModel
from gecc.plain import printable
from gecc.target import load


def disassembly(model: OmModel, ir: Mapping[str, str] | None = None) -> str:
    """Each kernel: the launches that use it, its tile IR (from `ir`, by kernel), its code.

    Raises CliError when the disassembler is not installed, UnsupportedError for a machine it does not know.
    """
    decode = None if model.portable else _decoder(model.target)
    return "\n".join(printable(line, keep="\t") for part in _kernels(model, ir or {}, decode) for line in part) + "\n"


def _kernels(model: OmModel, ir: Mapping[str, str], decode: Any) -> Iterator[list[str]]:
    blob = memoryview(model.blob).cast("B")
    uses: dict[str, list[str]] = {}
    shown: dict[tuple[int, int], str] = {}
    for i, task in enumerate(model.tasks):
        if isinstance(task, KernelTask):
            names = ", ".join(model.nodes[task.op_index].onnx_names)
            uses.setdefault(task.kernel, []).append(f"; task {i} '{task.label}', {task.blocks} blocks: {names}")
    for kernel in model.kernels:
        lines = [f"{kernel.name}:  ; {kernel.size} bytes at {kernel.offset}", *uses.get(kernel.name, [])]
        if kernel.name in ir:
            lines += [f"; {line}" for line in ir[kernel.name].splitlines()]
        if (same := shown.setdefault((kernel.offset, kernel.size), kernel.name)) != kernel.name:
            yield [*lines, f"  ; the code of {same}", ""]
            continue
        code = bytes(blob[kernel.offset : kernel.offset + kernel.size])
        if decode is None:
            yield [*lines, *code.decode(errors="backslashreplace").splitlines(), ""]
            continue
        end = kernel.offset
        for at, size, mnemonic, operands in decode.disasm_lite(code, kernel.offset):
            lines.append(f"  {at:8x}  {mnemonic:<12} {operands}".rstrip())
            end = at + size
        if end != kernel.offset + kernel.size:  # read-only data behind the code
            rest = kernel.offset + kernel.size - end
            lines.append(f"  {end:8x}  ; {rest} bytes that are no instructions: constants")
        yield [*lines, ""]


def _decoder(target: str) -> Any:
    try:
        import capstone
    except ImportError:
        raise CliError("the disassembler needs the package capstone", hint="pip install capstone") from None
    if load(target).machine != "x86_64":
        raise UnsupportedError(f"the disassembler is for x86-64, the code for {target}")
    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
