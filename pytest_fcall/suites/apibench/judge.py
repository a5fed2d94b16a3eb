"""Judges a reply to a question by the strict rule or by the original rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from pytest_fcall.core.case import Case
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.suites.apibench.apis import Api
from pytest_fcall.suites.apibench.files import HubFiles
from pytest_fcall.suites.apibench.grades import ORIGINAL_SCORES, STRICT_SCORES, Grade, GradedAnswer
from pytest_fcall.suites.apibench.original_rule import OriginalRule
from pytest_fcall.suites.apibench.parsers import installed_parser, original_parser, original_parser_folder
from pytest_fcall.suites.apibench.strict_rule import CheckedArguments, StrictRule

_GRADE_TEXTS: Mapping[Grade, str] = MappingProxyType(
    {
        "wrong": "is an API of another domain",
        "hallucination": "is no API of the data base",
        "unparsable": "holds no call that can be read",
    }
)


class HubRules:
    """The rules of one hub, made when there is something to judge."""

    def __init__(self, files: HubFiles, checked: CheckedArguments) -> None:
        self._files = files
        self._checked = checked

    @cached_property
    def strict(self) -> StrictRule:
        """Ours."""
        return StrictRule(self._files.apis, self._checked)

    def right(self, expected: Api) -> list[Pattern]:
        """All that is right where an API is expected, as `$api_call` takes it: that API first, then its domain's."""
        own = {api.call: api for api in self._files.apis if api.domain == expected.domain}
        known = next((api for api in self._files.apis if api.call == expected.call), expected)
        return [self._said(api) for api in {expected.call: known, **own}.values()]

    def _said(self, api: Api) -> Pattern:
        chosen = self.strict.chosen(api)
        return api.call if chosen is None else {"call": api.call, "checked": [*chosen]}

    @cached_property
    def original(self) -> OriginalRule:
        """That of the original scripts, with their parser where it is at hand."""
        folder = original_parser_folder()
        parse = installed_parser() if folder is None else original_parser(folder)
        return OriginalRule(self._files.hub, self._files.apis, parse)


class ApiJudge:
    """Judges one case: right is every API of the right domain."""

    def __init__(self, rules: HubRules, right: Api) -> None:
        self._rules = rules
        self._right = right

    @property
    def right_calls(self) -> list[Pattern]:
        """All that is right: the very API first."""
        return self._rules.right(self._right)

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge by the profile of the case: `bfcl` is for the original rule here, mistakes included."""
        if case.rules.profile == "bfcl":
            judged = GradedAnswer(self._rules.original(reply.text, self._right.domain))
        else:
            judged = self._rules.strict(reply.text, self._right.domain, self._right.call)
        scores = judged.adds_to(scores_of(case))
        notes = ("It is the very API that is expected.",) if judged.exact else ()
        if judged.word == "correct":
            return Verdict(valid=True, notes=notes, scores=scores)
        said = f"`{judged.call[:200]}`" if judged.call else "the answer"
        message = f"{judged.word}: {said} {_GRADE_TEXTS[judged.word]}, expected `{self._right.call}` or one like it"
        return Verdict(
            valid=False,
            reasons=(Reason("wrong_answer", "answer", message, self._right.call, judged.call or None),),
            scores=scores,
        )


def scores_of(case: Case) -> Sequence[str]:
    """The scores of the rule that judges a case."""
    return ORIGINAL_SCORES if case.rules.profile == "bfcl" else STRICT_SCORES
