"""Everything in a model that gecc cannot compile, in one error."""

from __future__ import annotations

from gecc.errors import UnsupportedError
from gecc.frontend.onnx.model import OnnxModel
from gecc.frontend.onnx.node import Node

SHOWN = 50
"""Entries that a message shows at most."""


class Report:
    """Collects refusals."""

    def __init__(self, model: OnnxModel) -> None:
        self.model = model
        self._entries: list[str] = []
        self._hints: dict[str, None] = {}

    def add(self, node: Node, rule: str, hint: str | None) -> None:
        """A node and the rule it breaks."""
        inputs = node.spell_inputs()
        self._add(f"{node.where}: {rule}" + (f"; inputs {inputs}" if inputs else ""), hint)

    def add_input(self, name: str, rule: str) -> None:
        """A graph input and the rule it breaks."""
        self._add(f"input '{name}': {rule}", None)

    def _add(self, entry: str, hint: str | None) -> None:
        self._entries.append(entry)
        if hint:
            self._hints[hint] = None

    def raise_if_any(self) -> None:
        """Raise UnsupportedError with all entries, if there are any."""
        if not self._entries:
            return
        count = len(self._entries)
        shown = self._entries[:SHOWN]
        lines = [f"{count} part{'s' * (count > 1)} of the model cannot be compiled:"]
        lines += [f"  {entry}" for entry in shown]
        if count > len(shown):
            lines.append(f"  and {count - len(shown)} more")
        raise UnsupportedError("\n".join(lines), where=self.model.name, hint="; ".join(self._hints) or None)
