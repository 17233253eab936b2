"""The code blocks of the Markdown pages, and the commands in them."""

import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
# The pages whose encoders, data sets and papers are added to a copy of the library.
EXTENDING = [ROOT / "docs" / f"{name}.md" for name in ("plug-ins", "own-data", "own-paper")]


class Block(NamedTuple):
    """A code block: its language ("" if indented), its text, and the line where it starts."""

    language: str
    text: str
    line: int


def code_blocks(page: Path) -> Iterator[Block]:
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            assert token.map
            yield Block(token.info, token.content, token.map[0] + 1)


def texts_of(language: str, pages: list[Path]) -> list[str]:
    """Return the texts of all blocks in a language, in the order of the pages."""
    return [
        block.text for page in pages for block in code_blocks(page) if block.language == language
    ]


def plugins(spec: str) -> list[tuple[str, str, str]]:
    """Return the code, the line in `specs.py` and the name of each plug-in that a page adds."""
    texts = texts_of("python", EXTENDING)
    return [
        (code, line, line.split('"')[1]) for code, line in pairwise(texts) if f": {spec}(" in line
    ]


def commands_of(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in lines of a shell, without redirections."""
    for line in text.replace("\\\n", " ").splitlines():
        words: list[str] = []
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&>;")
        lexer.whitespace_split = True
        for word in [*lexer, ";"]:
            if set(word) <= set("|&;"):
                if words:
                    yield words[: words.index(">")] if ">" in words else words
                words = []
            else:
                words.append(word)
