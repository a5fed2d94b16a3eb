"""The text of a comment: a report in Markdown, with a first line by which it is found again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_fcall.core.files import read_regular
from pytest_fcall.reporting.reports import markdown
from pytest_fcall.session.result.kept_run import load_run
from pytest_fcall.session.result.run_report import report_of
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.tracking.run_file import RunFileError

MOST_CHARACTERS: Final = 65_000
"""GitHub takes 65,536."""
_MOST_BYTES: Final = 2**22
_CUT: Final = "*The report goes on: it is longer than a comment may be.*"
_LINK: Final = re.compile(r"https?://[^\s<>()\[\]\"'`\\]+")


class NoReport(Exception):
    """There is no report that a comment could show. The text says why, as a sentence without its full stop."""


def marker_of(name: str) -> str:
    """The first line of the comment of a job with this name."""
    return markdown.MARKER.replace(" -->", f" {name} -->") if name else markdown.MARKER


def is_marked(text: str, marker: str) -> bool:
    """Whether a comment begins with this line."""
    return text.partition("\n")[0].strip() == marker


def report_body(path: Path, name: str) -> str:
    """The text for a report in Markdown, or for the file of a run. Raises NoReport."""
    text = _markdown(path) if path.suffix.lower() == ".md" else _report(path)
    first, _, rest = text.partition("\n")
    if first.strip() != markdown.MARKER:
        raise NoReport(f"{path} is no report of pytest-fcall in Markdown")
    heading, _, rest = rest.partition("\n")
    return "\n".join([marker_of(name), _titled(heading, name), rest])


def body_without_report(reason: str, name: str) -> str:
    """The text for a run that has left no report, so that a comment on an earlier run does not stay."""
    heading = _titled("### ❌ fcall: no report", name)
    return f"{marker_of(name)}\n{heading}\n\n{markdown.inline(reason)}: see the log of the job.\n"


def is_link(text: str) -> bool:
    """Whether a text is an address that Markdown takes for nothing else."""
    return _LINK.fullmatch(text) is not None


def with_links(text: str, links: Mapping[str, str]) -> str:
    """The text with links behind it; what is no address is left out."""
    shown = [f"[{title}]({address})" for title, address in links.items() if is_link(address)]
    return f"{text.rstrip()}\n\n<sub>{', '.join(shown)}</sub>\n" if shown else text


def bounded_body(text: str) -> str:
    """The text, without its last lines where it is too long."""
    if len(text) <= MOST_CHARACTERS:
        return text
    kept, room = list[str](), MOST_CHARACTERS - 1_000
    for line in text.split("\n"):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    opened = sum(line.count("<details") - line.count("</details>") for line in kept)
    return "\n".join([*kept, "", *["</details>"] * min(max(opened, 0), 50), "", _CUT, ""])


def _titled(heading: str, name: str) -> str:
    return f"{heading} ({markdown.inline(name)})" if name else heading


def _markdown(path: Path) -> str:
    try:
        return read_regular(path, _MOST_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        raise NoReport(f"{path.name} was not written") from None
    except OSError as error:
        raise NoReport(f"{path} cannot be read: {error.strerror}") from None


def _report(path: Path) -> str:
    try:
        return "".join(markdown.write(report_of(load_run(path), (), SUITES)))
    except RunFileError as error:
        raise NoReport(str(error)) from None
