"""Text of IR as gecc reads it: xDSL's syntax, in which what xDSL prints reads back as it was.

Two things do not for xDSL's own parser. It prints other characters than ASCII as escaped bytes, and takes a literal with such
bytes for bytes (`BytesAttr`), which is no name of a location, an input or a file; here a literal in UTF-8 is a string. And it
prints infinities, NaN and some more in a dense list of floats as hexadecimal bits, which it reads as integers; here they are
the bits, as in MLIR.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from xdsl.dialects.builtin import AnyFloat, ComplexType, IndexType, IntegerType
from xdsl.frontend.mlir import MLIRFrontend
from xdsl.parser import AttrParser, Parser
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


class _Bits(AttrParser._TensorLiteralElement):
    """A hexadecimal element of a dense list: to a float type its bits."""

    def to_type(self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType[Any]) -> Any:
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        size = type.bitwidth // 8
        if self.is_negative or not isinstance(self.value, int) or self.value >> type.bitwidth:
            parser.raise_error(f"expected the bits of {type}, at most {2 * size} digits", at_position=self.span)
        return type.unpack(self.value.to_bytes(size, "little"), 1)[0]


class TextParser(Parser):
    """xDSL's parser over `TextLexer`."""

    def __init__(self, ctx: Context, text: str, name: str = "<unknown>") -> None:
        super().__init__(ctx, "", name)
        self._name = name
        self._parser_state = ParserState(TextLexer(Input(text, name)))

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        if element.span.text[:2].lower() == "0x":
            return _Bits(element.is_negative, element.value, element.span)
        return element

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
