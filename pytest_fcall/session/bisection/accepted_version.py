"""The question to which the accepted answer was given, from what recordings and earlier runs keep of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.secrets import LEFT_OUT
from pytest_fcall.core.values import Json, Message
from pytest_fcall.tracking.question_digests import (
    EXPECTATION,
    PROMPT,
    SETTINGS,
    SYSTEM,
    TOOL_PREFIX,
    changed_parts,
    question_digests,
    tools_of,
)
from pytest_fcall.tracking.run_file import RunFileError, read_run_by_rows, run_paths
from pytest_fcall.tracking.stanza import Stanza, parse_stanza

if TYPE_CHECKING:
    from pytest_fcall.session.judge.former_questions import FormerQuestions

_MOST_RUNS: Final = 20
"""Most kept runs that are searched for a right answer, the newest ones."""
_SYSTEM_ROLES: Final = ("system", "developer")
FROM_GIT: Final = "name a revision that has it, as with --from=git:main"


class NoAcceptedVersion(Exception):
    """There is no old question to compare with. The text says why, and what to do."""


def accepted_question(stanza: Stanza | None, model: str) -> Mapping[str, str]:
    """The digests of the question to which the accepted answer was given. Raises NoAcceptedVersion."""
    if stanza is None:
        raise NoAcceptedVersion(f"no right answer of {model} is accepted, or kept of one of the last runs; {FROM_GIT}")
    digests = {name: value for name, value in stanza.digests.items() if name != EXPECTATION}
    if not digests:
        raise NoAcceptedVersion(f"the baseline does not say to which question the answer was given; {FROM_GIT}")
    return digests


class KeptAnswers:
    """The newest right answers that runs have kept. The files are read once, when the first answer is wanted."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._found: dict[tuple[str, str, str], Stanza] | None = None

    def of(self, file: str, model: str, case: str) -> Stanza | None:
        """The newest right answer to a case; None where no run has one."""
        if self._found is None:
            self._found = {}
            for row in chain.from_iterable(map(_rows, run_paths(self._root)[-_MOST_RUNS:])):
                match row:
                    case {"file": str(of), "model": str(by), "case": str(name), "stanza": str(text)}:
                        with suppress(ValueError):
                            stanza = parse_stanza(text)
                            if stanza.valid:
                                self._found[of, by, name] = stanza
        return self._found.get((file, model, case))


def _rows(path: Path) -> Iterator[Json]:
    with suppress(RunFileError):
        yield from read_run_by_rows(path)[1]


def stored_request(
    wanted: Mapping[str, str], today: Request, recorded: Iterable[Request], former: FormerQuestions, *, is_dated: bool
) -> Request:
    """The request with these digests, word for word. Raises NoAcceptedVersion, which names what is not kept of it.

    `is_dated` says that the question holds the day on which it is asked.
    """
    for request in recorded:
        if digests_of(request) == wanted:
            return with_todays_keys(request, today)
    if is_dated:
        raise NoAcceptedVersion(
            f"the question holds the day on which it is asked, so recordings do not name it; {FROM_GIT}"
        )
    built = _rebuilt(wanted, today, former)
    missing = [line for _, line in changed_parts(digests_of(built), wanted)]
    if missing:
        raise NoAcceptedVersion(
            f"the accepted question is not kept on this machine ({'; '.join(missing[:3])} since, and what it was is "
            f"not known); {FROM_GIT}"
        )
    return built


def digests_of(request: Request) -> Mapping[str, str]:
    """The digests of a request, as a baseline keeps them: without keys."""
    return question_digests(replace(request, settings=without_secrets(request.settings)))


def with_todays_keys(request: Request, today: Request) -> Request:
    """The request with the keys of today in its settings: those of recordings were left out, or are others."""
    public = without_secrets(request.settings)
    settings: dict[str, Json] = {
        name: value
        for name, value in request.settings.items()
        if name in public and public[name] == value and LEFT_OUT not in repr(value)
    }
    hidden = without_secrets(today.settings)
    keys = {name: value for name, value in today.settings.items() if name not in hidden or hidden[name] != value}
    return replace(request, settings={**settings, **keys}, sample=0)


def _rebuilt(wanted: Mapping[str, str], today: Request, former: FormerQuestions) -> Request:
    """Today's request with the former parts that accounts of runs have."""
    now = digests_of(today)
    messages = today.messages
    if wanted.get(SYSTEM) != now.get(SYSTEM):
        others = tuple(each for each in messages if each.get("role") not in _SYSTEM_ROLES)
        text = former.find(SYSTEM, wanted[SYSTEM]) if SYSTEM in wanted else None
        system: tuple[Message, ...] = ({"role": "system", "content": text},) if isinstance(text, str) else ()
        messages = (*system, *others)
    if wanted.get(PROMPT) != now.get(PROMPT) and PROMPT in wanted:
        text = former.find(PROMPT, wanted[PROMPT])
        if isinstance(text, str):
            before = tuple(each for each in messages if each.get("role") in _SYSTEM_ROLES)
            messages = (*before, {"role": "user", "content": text})
    settings = {} if SETTINGS not in wanted else today.settings
    return replace(today, messages=messages, tools=_former_tools(wanted, now, today.tools, former), settings=settings)


def _former_tools(
    wanted: Mapping[str, str], now: Mapping[str, str], today: Sequence[Tool], former: FormerQuestions
) -> tuple[Tool, ...]:
    """The tools in today's order, those that are gone behind them: in which order they stood, nothing keeps."""
    names, same = tools_of(wanted), {tool.name: tool for tool in today}
    current = tools_of(now)
    found: list[Tool] = []
    for name in (*(tool.name for tool in today if tool.name in names), *(name for name in names if name not in same)):
        if current.get(name) == names[name]:
            found.append(same[name])
            continue
        match former.find(TOOL_PREFIX + name, names[name]):
            case {"description": str(description), "parameters": dict(parameters)}:
                found.append(Tool(name, description, parameters))
    return tuple(found)
