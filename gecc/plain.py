"""Text of a file on a terminal, or in a message: names are of the file's making, and may hold what a terminal obeys."""

from __future__ import annotations

MOST = 6000
"""Most characters of a line of a message."""


def printable(text: str, *, keep: str = "\n\t") -> str:
    """The text with all that does not print escaped, but for the characters `keep`: controls, marks of direction, halves
    of characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def shortened(line: str) -> str:
    """A line of a message, its middle left out when it is very long."""
    if len(line) <= MOST:
        return line
    head, tail = line[: MOST * 3 // 4], line[-MOST // 8 :]
    return f"{head} .. ({len(line) - len(head) - len(tail)} characters) .. {tail}"
