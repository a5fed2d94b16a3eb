"""Texts that models wrote for variants: kept at the end of a run, by the process where results arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.variants.kept_texts import parse_text, texts_path, write_texts


def keep_texts(lines: Mapping[str, Sequence[str]], root: Path) -> Iterator[str]:
    """Write the lines beside their case files, and tell people what to review."""
    for file, written in lines.items():
        path = texts_path(root / file)
        texts = [text for line in written if (text := parse_text(line)) is not None]
        shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        count = plural_text(len(texts), "text")
        try:
            write_texts(path, texts)
        except OSError as error:
            yield safe_line(f"{count} for variants could not be kept in {shown}: {error.strerror}")
        else:
            models = ", ".join(dict.fromkeys(text.by for text in texts))
            yield safe_line(f"{models} wrote {count} for variants, to be reviewed: {shown}")
