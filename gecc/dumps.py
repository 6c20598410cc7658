"""The module after each pass, written to files as the Graph Engine does it.

DUMP_GE_GRAPH switches dumps on: 1 writes text with its weights beside it, 2 text without them, 3 only which operation
reads what. DUMP_GRAPH_LEVEL says which: 1 after every pass, 2 (the default) as
imported and at the end of each level, 3 the last only,
4 the first only, or names `A|B`: the stages whose name contains one of them. DUMP_GRAPH_PATH is the folder, by default
the current one. Files are `ge_graph_<n>_<stage>.mlir` and, for graphs, `.onnx` for Netron.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gecc.errors import CliError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation, SSAValue

Content = Literal["off", "weights", "text", "structure"]

_CONTENTS: dict[str, Content] = {"1": "weights", "2": "text", "3": "structure"}


@dataclass
class Dumps:
    """What to write, and where. `select` is a value of DUMP_GRAPH_LEVEL."""

    content: Content = "off"
    select: str = "2"
    folder: Path = field(default_factory=Path)
    count: int = 0
    """Files' number `<n>`: dumps written so far."""
    _first: bool = True

    @staticmethod
    def from_environment(environment: Mapping[str, str] | None = None) -> Dumps:
        """What the DUMP_* variables ask for; another value of DUMP_GE_GRAPH than 1, 2, 3 means no dumps."""
        env = os.environ if environment is None else environment
        return Dumps(
            _CONTENTS.get(env.get("DUMP_GE_GRAPH", ""), "off"),
            env.get("DUMP_GRAPH_LEVEL", "2") or "2",
            Path(env.get("DUMP_GRAPH_PATH", "") or "."),
        )

    def wanted(self, stage: str, *, ends: bool, last: bool) -> bool:
        """Whether `stage` is one of those selected."""
        if self.content == "off":
            return False
        match self.select:
            case "1":
                return True
            case "2":
                return self._first or ends or last
            case "3":
                return last
            case "4":
                return self._first
            case names:
                return any(name in stage for name in names.split("|") if name)

    def write(self, stage: str, ctx: Context, module: ModuleOp, *, ends: bool = False, last: bool = False) -> None:
        """Write the module as it stands after `stage`, if selected.

        `ends` says that the next pass lowers it to another level, `last` that no pass follows.

        Raises CliError when the folder cannot be written.
        """
        wanted = self.wanted(stage, ends=ends, last=last)
        self._first = False
        if not wanted:
            return
        path = self.folder / f"ge_graph_{self.count:03d}_{stage}.mlir"
        self.count += 1
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(path, ctx, module)
        except OSError as error:
            raise CliError(f"cannot write the dump '{path}': {error.strerror}", hint="DUMP_GRAPH_PATH") from error

    def _write(self, path: Path, ctx: Context, module: ModuleOp) -> None:
        from gecc.text import module_text, save_weights, without_weights

        if self.content == "structure":
            path.write_text("\n".join(structure(module)) + "\n", encoding="utf-8")
            return
        if self.content == "weights":
            copy = module.clone()
            copy.location = module.location
            save_weights(ctx, [copy], path)
        else:
            copy = without_weights(module)
        path.write_text(module_text(copy, locations=True), encoding="utf-8")
        self._write_onnx(path.with_suffix(".onnx"), ctx, module)

    def _write_onnx(self, path: Path, ctx: Context, module: ModuleOp) -> None:
        from gecc.frontend.onnx.export import export_view
        from gecc.pipeline import stage_of

        if stage_of(module) in ("ge", "fused", "tile"):
            path.write_bytes(export_view(ctx, module).SerializeToString(deterministic=True))


def structure(module: ModuleOp) -> Iterator[str]:
    """A line for each operation of the graph: what it makes, what it reads, and the ONNX nodes it comes from.

    It is for people; there is no way back from it.
    """
    from xdsl.dialects.func import FuncOp

    from gecc.dialects.om import ModelOp

    for graph in module.body.ops:
        if not isinstance(graph, FuncOp | ModelOp) or graph.body.first_block is None:
            continue
        block = graph.body.block
        names: dict[SSAValue, str] = {arg: f"%arg{arg.index}" for arg in block.args}
        arguments = ", ".join(f"{names[arg]}: {arg.type}" for arg in block.args)
        yield f"{graph.name} ({arguments}) {{"
        yield from _lines(block, names, "  ")
        yield "}"


def _lines(block: Block, names: dict[SSAValue, str], indent: str) -> Iterator[str]:
    """The lines of a block; regions of branches and loops follow the operation, further in."""
    from gecc.dialects._control import BranchOp, LoopOp
    from gecc.dialects.ge import Control
    from gecc.rewrite import location_names

    for op in block.ops:
        for result in op.results:
            names[result] = f"%{len(names)}"
        yield f"{indent}{_line(op, names)}{''.join(f'  // {name}' for name in location_names(op))}"
        for region in op.regions if isinstance(op, Control | BranchOp | LoopOp) else ():
            for arg in region.block.args:
                names[arg] = f"%{len(names)}"
            yield f"{indent}{{ {', '.join(f'{names[arg]}: {arg.type}' for arg in region.block.args)}".rstrip()
            yield from _lines(region.block, names, indent + "  ")
            yield f"{indent}}}"


def _line(op: Operation, names: Mapping[SSAValue, str]) -> str:
    results = ", ".join(names[r] for r in op.results)
    kinds = ", ".join(str(r.type) for r in op.results)
    operands = ", ".join(names[x] for x in op.operands)
    return f"{results} = {op.name}({operands}) : {kinds}" if results else f"{op.name}({operands})"
