"""`fcall comment`: the report of a run as the one comment of a pull request or merge request."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_fcall.cli.command_parser import command_parser, whole_number
from pytest_fcall.cli.comment.api import ApiError, Forbidden, UnusableEnvironment
from pytest_fcall.cli.comment.thread import NoThread, github_thread, gitlab_thread, write_comment
from pytest_fcall.cli.safe_output import machine_secrets
from pytest_fcall.core.files import read_regular
from pytest_fcall.reporting.reports import markdown
from pytest_fcall.reporting.safe_text import safe_line

_EXAMPLES = """\
examples:
  fcall comment report.md                        what `pytest --fc-report=report.md` has written
  fcall comment merged.json                      what `fcall merge -o merged.json` has made of all shards
  fcall comment report.md --name gpt-5.2         one of several jobs, each with a comment of its own

In a job of GitHub or GitLab the environment says where the comment goes; GITHUB_TOKEN or GITLAB_TOKEN lets it write.
The comment that it wrote before is replaced. Its address is printed.
"""
_NAME = re.compile(r"\w(?:[\w .:/@+]|-(?!-)){0,79}")
_TOKENS = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN"}
_THREADS = {"github": github_thread, "gitlab": gitlab_thread}
_MOST_CHARACTERS: Final = 65_000
"""GitHub takes 65,536."""
_MOST_BYTES: Final = 2**22
_CUT: Final = "*The report goes on: it is longer than a comment may be.*"
_LINK: Final = re.compile(r"https?://[^\s<>()\[\]\"'`\\]+")


def run(arguments: Sequence[str]) -> int:
    """Write the comment; 1 where it cannot be written or there is no report, with `--required` also where none may."""
    parser = _parser()
    options = parser.parse_args(arguments)
    host = options.host or _host_of(parser, os.environ)
    text, status = _text(options)
    secrets = machine_secrets()
    try:
        token = _token(options.token_variable or _TOKENS[host], os.environ)
        secrets.add([token])
        thread = _THREADS[host](os.environ, token, options.pull_request)
        body = _bounded_body(secrets.redacted(_with_links(text, {"job": thread.job, "report": options.link})))
        print(safe_line(asyncio.run(write_comment(thread, body))))
    except (NoThread, Forbidden) as error:
        _tell(f"no comment is written: {secrets.redacted(str(error))}")
        return 1 if options.required else status
    except UnusableEnvironment as error:
        parser.error(safe_line(secrets.redacted(str(error))))
    except ApiError as error:
        _tell(f"the comment is not written: {secrets.redacted(str(error))}")
        return 1
    return status


def _text(options: Namespace) -> tuple[str, int]:
    """The text of the comment, and the exit status where it is written."""
    try:
        return _report_body(options.report, options.name), 0
    except _NoReport as error:
        _tell(str(error))
        return _body_without_report(str(error), options.name), 1


def _tell(text: str) -> None:
    print(f"fcall comment: {safe_line(text)}", file=sys.stderr)


def _host_of(parser: ArgumentParser, environment: Mapping[str, str]) -> str:
    """The host whose job this is. Where there is none, `parser` ends the program."""
    for host, variable in (("gitlab", "GITLAB_CI"), ("github", "GITHUB_ACTIONS")):
        if environment.get(variable) == "true":
            return host
    return parser.error("this is no job of GitHub or GitLab: --github or --gitlab says which one is meant")


def _token(variable: str, environment: Mapping[str, str]) -> str:
    """The token in a variable. Raises NoThread where there is none, and UnusableEnvironment."""
    token = environment.get(variable, "").strip()
    if not token:
        raise NoThread(f"{variable} is empty, so there is no token")
    if not token.isascii() or not token.isprintable():
        raise UnusableEnvironment(f"{variable}: holds characters that no token has")
    return token


def _name(text: str) -> str:
    if text and not _NAME.fullmatch(text):
        raise ArgumentTypeError(f"must be at most 80 letters, digits, spaces and signs of .:/@+-_, not {text!r}")
    return text


def _link(text: str) -> str:
    if text and not _is_link(text):
        raise ArgumentTypeError(f"must be an address such as https://example.com/report.html, not {text!r}")
    return text


def _parser() -> ArgumentParser:
    parser = command_parser(
        "comment", "Write the report of a run as a comment on a pull request, or replace the one there.", _EXAMPLES
    )
    parser.add_argument(
        "report", type=Path, metavar="REPORT", help="a report in Markdown, or the file of a run (.json)"
    )
    host = parser.add_mutually_exclusive_group()
    for name, title in (("github", "GitHub"), ("gitlab", "GitLab")):
        host.add_argument(
            f"--{name}", action="store_const", const=name, dest="host", help=f"on {title} (default: whose job this is)"
        )
    parser.add_argument(
        "--name", type=_name, default="", help="the name of this job, where several comment on the same pull request"
    )
    parser.add_argument(
        "--pull-request",
        type=whole_number(10**9),
        metavar="N",
        help="its number (default: that of the job's event)",
    )
    parser.add_argument("--link", type=_link, default="", metavar="URL", help="where the whole report can be seen")
    parser.add_argument(
        "--token-variable", metavar="NAME", help="the variable with the token (default: GITHUB_TOKEN or GITLAB_TOKEN)"
    )
    parser.add_argument(
        "--required",
        action="store_true",
        help="exit with 1 also where there is no pull request or no token, or where it may not write",
    )
    return parser


class _NoReport(Exception):
    """There is no report that a comment could show. The text says why, as a sentence without its full stop."""


def _marker_of(name: str) -> str:
    """The first line of the comment of a job with this name."""
    return markdown.MARKER.replace(" -->", f" {name} -->") if name else markdown.MARKER


def _report_body(path: Path, name: str) -> str:
    """The text for a report in Markdown, or for the file of a run. Raises _NoReport."""
    text = _markdown(path) if path.suffix.lower() == ".md" else _report(path)
    first, _, rest = text.partition("\n")
    if first.strip() != markdown.MARKER:
        raise _NoReport(f"{path} is no report of pytest-fcall in Markdown")
    heading, _, rest = rest.partition("\n")
    return "\n".join([_marker_of(name), _titled(heading, name), rest])


def _body_without_report(reason: str, name: str) -> str:
    """The text for a run that has left no report, so that a comment on an earlier run does not stay."""
    heading = _titled("### ❌ fcall: no report", name)
    return f"{_marker_of(name)}\n{heading}\n\n{markdown.inline(reason)}: see the log of the job.\n"


def _is_link(text: str) -> bool:
    """Whether a text is an address that Markdown takes for nothing else."""
    return _LINK.fullmatch(text) is not None


def _with_links(text: str, links: Mapping[str, str]) -> str:
    """The text with links behind it; what is no address is left out."""
    shown = [f"[{title}]({address})" for title, address in links.items() if _is_link(address)]
    return f"{text.rstrip()}\n\n<sub>{', '.join(shown)}</sub>\n" if shown else text


def _bounded_body(text: str) -> str:
    """The text, without its last lines where it is too long."""
    if len(text) <= _MOST_CHARACTERS:
        return text
    kept, room = list[str](), _MOST_CHARACTERS - 1_000
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
        raise _NoReport(f"{path.name} was not written") from None
    except OSError as error:
        raise _NoReport(f"{path} cannot be read: {error.strerror}") from None


def _report(path: Path) -> str:
    from pytest_fcall.session.result.kept_runs import load_run
    from pytest_fcall.session.result.run_report import report_of
    from pytest_fcall.suites.builtin import SUITES
    from pytest_fcall.tracking.run_file import RunFileError

    try:
        return "".join(markdown.write(report_of(load_run(path), (), SUITES)))
    except RunFileError as error:
        raise _NoReport(str(error)) from None
