"""The pages of the documentation as tests read them: their blocks, the files that these name, and their commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FRAMEWORKS = ROOT / "docs" / "frameworks"
FENCE = re.compile(
    r"(?:^`(?P<before>[^`\n]+)`:\n\n?)?"
    r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_FIRST_LINE = re.compile(r"(?:#|//) ([\w./-]+\.\w+)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    info: str
    text: str
    path: str | None

    @property
    def id(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks that a reader of the rendered page sees: those in HTML comments are none."""
    source = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), page.read_text(encoding="utf-8"))
    for found in FENCE.finditer(source):
        text = found["text"]
        named = _FIRST_LINE.fullmatch(text.split("\n", 1)[0])
        line = source.count("\n", 0, found.start("fence")) + 1
        yield Block(page, line, found["info"].strip(), text, named[1] if named else found["before"])


def write(block: Block, folder: Path) -> Path:
    """Write the file that the block names."""
    path = folder / str(block.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    return path


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it is said to print."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, [line.strip() for line in printed.splitlines() if line.strip()]


def first_missing(expected: list[str], output: str) -> str | None:
    """The first of the expected lines that is not in the output after those before it."""
    rest = iter(output.splitlines())
    for line in expected:
        pattern = ".*".join(map(re.escape, line.split("...")))
        if line != "..." and not any(re.fullmatch(pattern, candidate.strip()) for candidate in rest):
            return line
    return None
