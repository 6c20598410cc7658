"""Errors that users see. Every message says what was found, what was expected, and where."""

from __future__ import annotations

from gecc.plain import printable, shortened


class GeccError(Exception):
    """Base of all errors raised on purpose.

    `where` names the place (an ONNX node, an operation, a file and offset) and `hint` says what to do.
    """

    _lines = True
    """Whether a message may have lines. One that quotes a stranger's file may not: the file would write lines of its own."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.message = message
        self.where = where
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The message with its place and hint, one per line, fit for a terminal whatever names are in it."""
        lines = printable(self.message).split("\n") if self._lines else [printable(self.message, keep="")]
        if self.where:
            lines.append(f"  in {printable(self.where, keep='')}")
        if self.hint:
            lines.append(f"  hint: {printable(self.hint)}")
        return "\n".join(map(shortened, lines))


class InvalidModelError(GeccError):
    """The ONNX model breaks the standard or contradicts itself."""


class UnsupportedError(GeccError):
    """The model is valid, but holds something gecc cannot compile."""


class ShapeError(GeccError):
    """Shapes are missing or do not agree."""


class WeightError(GeccError):
    """A weight is missing, or the file that holds it is damaged."""


class PassError(GeccError):
    """A pass met IR that breaks its stated needs."""


class MemoryLimitError(GeccError):
    """A model's arena does not fit the limit given."""


class CodegenError(GeccError):
    """Machine code could not be made."""


class OmError(GeccError):
    """An om file is damaged, of another version, or for another machine."""

    _lines = False


class InputError(GeccError):
    """An executor was given wrong inputs."""


class KernelError(GeccError):
    """A kernel met a bad value at run time, such as an index out of range."""


class CliError(GeccError):
    """A command line asks for something impossible."""
