"""Files that users name: read with errors in words; written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import BinaryIO

from gecc.errors import CliError


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is there and is no regular file or folder, such as /dev/null: it must never be replaced."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def read_text(path: str, what: str = "", hint: str | None = None) -> str:
    """The text of a file; `what` says what it is for, such as a flag. Raises CliError for one that cannot be read or is no
    text in UTF-8, with `hint`."""
    of = f" of {what}" if what else ""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise CliError(f"cannot read '{path}'{of}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        said = f"'{path}'{of} is no text in UTF-8: {error.reason} at byte {error.start}"
        raise CliError(said, hint=hint) from error


@contextlib.contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write in: it gets its name when the block ends well, and is gone when it does not. A link stays a link.

    Raises OSError when the system refuses.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")
    file = open(temporary, "xb")
    try:
        with file:
            yield file
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write in, as `new_file`; a device or pipe is written to as it is.

    Raises CliError, before the block runs if possible, when the file cannot be written; BrokenPipeError when who reads a
    pipe has gone.
    """
    if os.path.isdir(path):
        raise CliError(f"cannot write '{os.fspath(path)}': it is a folder")
    file: BinaryIO | None = None
    try:
        with open(path, "wb") if is_stream(path) else new_file(path) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        if file is None or error.filename in (None, file.name):  # not of what else the block does
            raise CliError(f"cannot write '{os.fspath(path)}': {error.strerror}") from error
        raise


def write_whole(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write a file, text as UTF-8. Raises CliError when it cannot be written; then nothing has changed."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)
