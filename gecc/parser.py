"""Text of IR as gecc reads it: xDSL's syntax, in which every literal in UTF-8 is a string.

xDSL prints other characters than ASCII as escaped bytes, and takes a literal with such bytes for bytes (`BytesAttr`), which
is no name of a location, an input or a file. Models have names in all languages, and text must read back as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from xdsl.frontend.mlir import MLIRFrontend
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Input, Position, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from gecc.errors import GeccError, InvalidModelError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


MAX_WORD = 4096
"""Most characters of a word. A shape is a word to the lexer, which reads it anew behind each extent: 9x9x9x9x..."""


class TextLexer(MLIRLexer):
    """xDSL's lexer, to which a literal in UTF-8 is a string."""

    def _lex_bare_identifier(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_bare_identifier(start_pos)
        if token.span.end - token.span.start > MAX_WORD:
            raise ParseError(token.span, f"a word has more than {MAX_WORD} characters")
        return token

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                StringLiteral.from_span(token.span).bytes_contents.decode()
            except UnicodeDecodeError:
                return token
            return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


class TextParser(Parser):
    """xDSL's parser over `TextLexer`."""

    def __init__(self, ctx: Context, text: str, name: str = "<unknown>") -> None:
        super().__init__(ctx, "", name)
        self._name = name
        self._parser_state = ParserState(TextLexer(Input(text, name)))

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """The module. Raises ParseError or VerifyException for text that says none, InvalidModelError as `in_words`."""
        with in_words(self._name):
            return super().parse_module(allow_implicit_module)


@contextmanager
def in_words(name: str) -> Iterator[None]:
    """Parsing and verifying text of any making, from the file `name`: xDSL's errors pass, as gecc's own do; all else that
    xDSL raises for text it was not written for (a number of ten thousand digits, brackets within one another without end)
    becomes an InvalidModelError."""
    try:
        yield
    except (GeccError, DiagnosticException, ParseError):
        raise
    except RecursionError:
        raise InvalidModelError("the text is nested too deeply", where=name) from None
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise InvalidModelError(f"the text says nothing that IR can hold: {said}", where=name) from error


@dataclass(frozen=True)
class TextFrontend(MLIRFrontend):
    """Reads text in xDSL's driver."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        """The module that the text says."""
        return TextParser(ctx, input.read().decode("utf-8"), input_name).parse_module(not self.no_implicit_module)
