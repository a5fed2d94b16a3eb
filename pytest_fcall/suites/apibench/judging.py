"""Replies to the questions of a hub, judged by our rule or by the original one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.suites.apibench.data_base import Api
from pytest_fcall.suites.apibench.files import HubFiles
from pytest_fcall.suites.apibench.original import OriginalRule
from pytest_fcall.suites.apibench.parsers import found_parser, installed_parser, original_parser
from pytest_fcall.suites.apibench.score import Judged, Word
from pytest_fcall.suites.apibench.strict import StrictRule

_WORDS: Mapping[Word, str] = MappingProxyType(
    {
        "wrong": "is an API of another domain",
        "hallucination": "is no API of the data base",
        "unparsable": "holds no call that can be read",
    }
)


class Rules:
    """The rules of one hub, made when there is something to judge."""

    def __init__(self, files: HubFiles) -> None:
        self._files = files

    @cached_property
    def strict(self) -> StrictRule:
        """Ours."""
        return StrictRule(self._files.apis)

    def calls_of(self, domain: str) -> tuple[str, ...]:
        """How the APIs of a domain are called."""
        return tuple(api.call for api in self._files.apis if api.domain == domain)

    @cached_property
    def original(self) -> OriginalRule:
        """That of the original scripts, with their parser where it is at hand."""
        folder = found_parser()
        parse = installed_parser() if folder is None else original_parser(folder)
        return OriginalRule(self._files.hub, self._files.apis, parse)


class ApiJudge:
    """Judges one case: right is every API of the right domain."""

    def __init__(self, rules: Rules, right: Api) -> None:
        self._rules = rules
        self._right = right

    @property
    def right_calls(self) -> list[str]:
        """All that is right: the very API first."""
        return list(dict.fromkeys((self._right.call, *self._rules.calls_of(self._right.domain))))

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge by the profile of the case: `bfcl` is for the original rule here, mistakes included."""
        if case.rules.profile == "bfcl":
            judged = Judged(self._rules.original(reply.text, self._right.domain))
        else:
            judged = self._rules.strict(reply.text, self._right.domain, self._right.call)
        notes = ("It is the very API that is expected.",) if judged.exact else ()
        if judged.word == "correct":
            return Verdict(valid=True, notes=notes)
        said = f"`{judged.call[:200]}`" if judged.call else "the answer"
        message = f"{judged.word}: {said} {_WORDS[judged.word]}, expected `{self._right.call}` or one like it"
        return Verdict(
            valid=False,
            reasons=(Reason("wrong_answer", "answer", message, self._right.call, judged.call or None),),
        )
