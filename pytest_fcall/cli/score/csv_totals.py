"""The totals of stored answers as files of comma-separated values."""

from __future__ import annotations

import csv
import io
import re
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_fcall.core.extension import Table
from pytest_fcall.core.files import replace_file
from pytest_fcall.reporting.safe_text import safe_line


def add_option(parser: ArgumentParser) -> None:
    """Add the option that names the file or the folder."""
    parser.add_argument(
        "--csv",
        type=Path,
        metavar="PATH",
        help="print the totals and write them: all tables into a folder, with bfcl those of its harness, or the chief "
        "one into FILE.csv",
    )


def check_writable(parser: ArgumentParser, path: Path) -> None:
    """Make the folder of the files. One that cannot be made ends the program through `parser`."""
    try:
        _folder(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--csv: cannot write to {safe_line(str(path))}: {error.strerror or error}")


def _folder(path: Path) -> Path:
    return path.parent if _is_file(path) else path


def _is_file(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def table_files(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of files with these tables, which are called by their first titles."""
    for number, table in enumerate(tables, 1):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([*map(safe_line, row)] for row in (table.titles, *table.rows))
        name = re.sub(r"\W+", "_", table.titles[0], flags=re.ASCII).strip("_").lower()
        yield f"{number}_{name}.csv" if len(tables) > 1 else f"{name or 'totals'}.csv", text.getvalue()


def write_tables(path: Path, files: Iterable[tuple[str, str]]) -> list[Path]:
    """Write the tables into a folder; into a file the chief one alone. Raises OSError."""
    written = [(path if _is_file(path) else path / name, text) for name, text in files]
    written = written[:1] if _is_file(path) else written
    for place, text in written:
        replace_file(place, [text.encode("utf-8", "backslashreplace")])
    return [place for place, _ in written]
