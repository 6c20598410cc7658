"""Hostile text: mutations of the text of om files, which gecc-translate reads back. Each must end in an error in words or an om.

Words, strings, numbers, types and attributes take each other's place and the values that break parsers; lines go, come twice
and change places.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from xdsl.utils.exceptions import DiagnosticException, ParseError

from gecc import translate
from gecc.errors import GeccError
from gecc.om.writer import to_bytes
from gecc.om_ir import to_model
from gecc.weights import store_of
from test.fuzz.bases import Base

_TOKEN = re.compile(r'"[^"]*"|%\w+|-?\d+|[A-Za-z_][\w.]*|[^\sA-Za-z0-9_]')
_TYPE = re.compile(r"tensor<[^>]*>|!om\.object<[^>]*>")
_ATTRIBUTE = re.compile(
    r"#om\.\w+<[^<>]*(?:<[^<>]*>[^<>]*)*>|array<[^>]*>|\[[^\[\]]*\]|-?\d+ : i64|#ge\.weight<[^>]*>>|\{[^{}]*\}"
)
_NUMBERS = ("0", "1", "-1", str(2**63 - 1), str(-(2**63)), str(2**63), str(2**64), "9" * 40, "9" * 5000, "512")
_STRINGS = ('""', '"x"', '"arena"', '"f32"', '"tensor(string)"', r'"\00"', r'"\ff"', '"ü"', '"seq(seq(tensor(float)))"')
_TYPES = (
    *("tensor<4xf32>", "tensor<?xf32>", "tensor<*xf32>", "i64", "index", "tensor<0xf32>", "tensor<2x2xi128>", "i640"),
    *('!om.object<"tensor(string)">', '!om.object<"x">', "memref<4xf32>", "none", "tensor<4xf32, 1>", "tuple<>"),
)
_ATTRIBUTES = (
    *(
        "1 : i64",
        "1 : i8",
        "1.0 : f32",
        "0x7FC00000 : f32",
        "[]",
        "[1]",
        "{}",
        "unit",
        "array<i64: 1, 2>",
        "true",
        "@x",
    ),
    *(
        "array<i1: true>",
        "array<i640: 5>",
        "dense<1.0> : tensor<4xf32>",
        "#om.mem<arena, 0, 32>",
        "#om.mem<gear, 0, 8>",
    ),
    *(
        "#om.mem<foo, 0, 8>",
        "#om.mem<input 7, -1, 99>",
        '#om.slot<0, "x">',
        "#om.io<0, array<i64: -1>>",
        "#om.io<0, 1>",
    ),
    *('#om.tensor<#om.mem<arena, 0, 4>, "f32", array<i64: 1>>', "[array<i64: 1>, 2]", '["a", 1.0 : f32]', "[" * 500),
)


def text_of(base: Base, folder: Path) -> str:
    """The text of a file; its weights are beside it in `folder`."""
    om, path = folder / "base.om", folder / f"{base.name.replace('/', '-')}.mlir"
    om.write_bytes(base.data)
    translate.write_text(translate.read(str(om), "om"), str(path), elide=False)
    return path.read_text()


def text_mutants(text: str, seed: int) -> Iterator[str]:
    """Endless mutants, the same for a seed."""
    rng = random.Random(seed)
    while True:
        changed = text
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            changed = _changed(changed, rng)
        yield changed


def check_text(text: str, path: Path) -> bool:
    """Whether the text is a model; anything but an error in words passes through."""
    path.write_text(text)
    try:
        subject = translate.read(str(path), "mlir")
        assert subject.module is not None
        to_bytes(to_model(subject.module, store_of(subject.ctx)))
    except (GeccError, DiagnosticException, ParseError):
        return False
    return True


def _changed(text: str, rng: random.Random) -> str:
    tokens = [match.span() for match in _TOKEN.finditer(text)]
    if not tokens:
        return text
    start, stop = rng.choice(tokens)
    word = text[start:stop]
    other = text[slice(*rng.choice(tokens))]
    match rng.randrange(8):
        case 0 | 1 | 2:
            if word.lstrip("-").isdecimal():
                other = rng.choice(_NUMBERS)
            elif word.startswith('"'):
                other = rng.choice(_STRINGS)
            elif word.startswith("%"):
                other = rng.choice([text[a:b] for a, b in tokens if text[a] == "%"])
            return text[:start] + other + text[stop:]
        case 3:
            return text[:start] + text[stop:]
        case 4:
            return f"{text[:start]}{other} {text[start:]}"
        case 5:
            return _lines(text, rng)
        case 6:
            return _replaced(_TYPE, text, rng, _TYPES)
        case _:
            return _replaced(_ATTRIBUTE, text, rng, _ATTRIBUTES)


def _lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            lines[i], lines[j] = lines[j], lines[i]
        case 1:
            lines.insert(i, lines[j])
        case _:
            del lines[i]
    return "\n".join(lines)


def _replaced(pattern: re.Pattern[str], text: str, rng: random.Random, by: tuple[str, ...]) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + rng.choice(by) + text[match.end() :]
