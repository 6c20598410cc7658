"""Text of IR as gecc reads it: xDSL's syntax, in which every literal in UTF-8 is a string.

xDSL prints other characters than ASCII as escaped bytes, and takes a literal with such bytes for bytes (`BytesAttr`), which
is no name of a location, an input or a file. Models have names in all languages, and text must read back as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from xdsl.frontend.mlir import MLIRFrontend
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input, Position, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


class TextLexer(MLIRLexer):
    """xDSL's lexer, to which a literal in UTF-8 is a string."""

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
        self._parser_state = ParserState(TextLexer(Input(text, name)))


@dataclass(frozen=True)
class TextFrontend(MLIRFrontend):
    """Reads text in xDSL's driver."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        """The module that the text says."""
        return TextParser(ctx, input.read().decode("utf-8"), input_name).parse_module(not self.no_implicit_module)
