"""Judges a reply to a question by the strict rule or by the original rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from pytest_fcall.core.case import Case
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.suites.apibench.apis import ApiChange, ApiEntry
from pytest_fcall.suites.apibench.constraints import NO_CONSTRAINTS, ConstraintResult, Constraints, Fulfilment
from pytest_fcall.suites.apibench.files import HubFiles
from pytest_fcall.suites.apibench.grades import (
    CHANGE_SCORES,
    CONSTRAINT_SCORES,
    ORIGINAL_SCORES,
    OTHER_PARSER,
    STRICT_SCORES,
    Grade,
    GradedAnswer,
)
from pytest_fcall.suites.apibench.original_rule import (
    OriginalRule,
    install_command,
    original_parser_folder,
    parser_of,
)
from pytest_fcall.suites.apibench.strict_rule import CheckedArguments, StrictRule, finding_of_answer

_GRADE_TEXTS: Mapping[Grade, str] = MappingProxyType(
    {
        "wrong": "is an API of another domain",
        "outdated": "is how the API was called before its document changed",
        "hallucination": "is not in the API data base",
        "unparsable": "has no readable call",
    }
)


_CONSTRAINT_SCORE: Mapping[Fulfilment, str] = MappingProxyType(
    {"met": "constraints_met", "unmet": "constraints_unmet", "not judged": "constraints_unjudged"}
)


class HubRules:
    """The rules of one hub, made with the first judging."""

    def __init__(self, files: HubFiles, checked: CheckedArguments) -> None:
        self._files = files
        self._checked = checked

    @cached_property
    def strict(self) -> StrictRule:
        """The strict rule."""
        return StrictRule(self._files.apis, self._checked)

    @cached_property
    def after_changes(self) -> StrictRule:
        """The strict rule for changed documents, which knows the APIs before and after. Raises as `strict` does."""
        return StrictRule((*self._files.apis, *(change.new for change in self._files.changes.values())), self._checked)

    @cached_property
    def original(self) -> OriginalRule:
        """The rule of the original scripts, with their parser if it is installed."""
        return OriginalRule(self._files.hub, self._files.apis, parser_of(original_parser_folder()))

    def right_calls(self, expected: ApiEntry, constraints: Constraints) -> list[Pattern]:
        """Return the right calls for `$api_call`: the expected API first, then the others of its domain."""
        known = self._apis_by_call.get(expected.call, expected)
        right = {expected.call: known, **self._apis_by_domain.get(expected.domain, {})}.values()
        return [self._as_operand(api) for api in right if not constraints or self._meets(constraints, api)]

    def _meets(self, constraints: Constraints, api: ApiEntry) -> bool:
        graded = self.strict(api.call, api.domain, api.call)
        known = graded if graded.documents else replace(graded, documents=(api.document,))
        return finding_of_answer(constraints, known).lets_pass

    def change_operands(self, change: ApiChange) -> tuple[Pattern, Pattern]:
        """Return the new call and the former one for `$api_call`."""
        return self._as_operand(change.new), self._as_operand(change.former)

    def _as_operand(self, api: ApiEntry) -> Pattern:
        names = self.strict.chosen_arguments(api)
        return api.call if names is None else {"call": api.call, "checked": [*names]}

    @cached_property
    def _apis_by_call(self) -> Mapping[str, ApiEntry]:
        return {api.call: api for api in reversed(self._files.apis)}

    @cached_property
    def _apis_by_domain(self) -> Mapping[str, Mapping[str, ApiEntry]]:
        domains: dict[str, dict[str, ApiEntry]] = {}
        for api in self._files.apis:
            domains.setdefault(api.domain, {})[api.call] = api
        return domains


class ApiJudge:
    """Judges the answers to one question. Every API of the right domain is right that meets the constraints."""

    def __init__(self, rules: HubRules, right: ApiEntry, constraints: Constraints = NO_CONSTRAINTS) -> None:
        self._rules = rules
        self._right = right
        self.constraints = constraints

    @property
    def right_calls(self) -> list[Pattern]:
        """The right calls for `$api_call`, the expected one first. Without any, no call is known to be right."""
        return self._rules.right_calls(self._right, self.constraints)

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge a reply. The profile `original` means the original rule, with its mistakes."""
        if case.rules.profile != "strict":
            graded = GradedAnswer(self._rules.original(reply.text, self._right.domain))
        else:
            graded = self._rules.strict(reply.text, self._right.domain, self._right.call)
        scores = graded.score_parts(_rule_scores(case))
        notes = _parser_notes(case)
        if OTHER_PARSER in scores:
            scores[OTHER_PARSER] = (1.0, 1.0)
        reasons = []
        if graded.grade != "correct":
            reasons.append(_wrong(graded, _GRADE_TEXTS[graded.grade], self._right, " or an API of its domain"))
        elif graded.exact:
            notes = ("It is the expected API itself.", *notes)
        if self.constraints and case.rules.profile == "strict":
            finding = self._finding(graded)
            scores |= {name: (float(name == _CONSTRAINT_SCORE[finding.fulfilment]), 1.0) for name in CONSTRAINT_SCORES}
            if finding.fulfilment != "met" and finding.lets_pass:
                notes = (f"Constraint {finding.fulfilment}: {finding.text}.", *notes)
            elif not finding.lets_pass:
                message = f"constraint {finding.fulfilment}: {finding.text}"
                reasons.append(Reason("wrong_answer", "answer.constraints", message, got=graded.call or None))
        return Verdict(valid=not reasons, reasons=tuple(reasons), notes=notes, scores=scores)

    def _finding(self, graded: GradedAnswer) -> ConstraintResult:
        """Whether the API that is called meets the constraints by what its documents say."""
        known = graded if graded.documents or not graded.exact else replace(graded, documents=(self._right.document,))
        return finding_of_answer(self.constraints, known)


class ChangeJudge:
    """Judges the answers to a question with a changed document, whatever the profile.

    Only the API by that document is right: the original rule, and its domains, know nothing of changes.
    """

    def __init__(self, rules: HubRules, change: ApiChange) -> None:
        self._rules = rules
        self._change = change

    @property
    def operands(self) -> tuple[Pattern, Pattern]:
        """The new call and the former one for `$api_call`."""
        return self._rules.change_operands(self._change)

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:  # noqa: ARG002  the answer is text
        """Judge a reply."""
        graded = self._rules.after_changes.after_change(reply.text, self._change)
        scores = graded.score_parts(CHANGE_SCORES)
        if graded.grade == "correct":
            return Verdict(valid=True, scores=scores)
        texts = {**_GRADE_TEXTS, "wrong": "is another API than that of the document"}
        return Verdict(valid=False, reasons=(_wrong(graded, texts[graded.grade], self._change.new),), scores=scores)


def _wrong(graded: GradedAnswer, text: str, right: ApiEntry, others: str = "") -> Reason:
    subject = f"`{graded.call[:200]}`" if graded.call else "the answer"
    message = f"{graded.grade}: {subject} {text}; expected `{right.call}`{others}"
    return Reason("wrong_answer", "answer", message, right.call, graded.call or None)


def scores_of(case: Case) -> Sequence[str]:
    """Return the names of the scores of the rule that judges a case."""
    if isinstance(case.judge, ChangeJudge):
        return CHANGE_SCORES
    constrained = isinstance(case.judge, ApiJudge) and case.judge.constraints and case.rules.profile == "strict"
    return (*_rule_scores(case), *CONSTRAINT_SCORES) if constrained else _rule_scores(case)


def _rule_scores(case: Case) -> Sequence[str]:
    if case.rules.profile == "strict":
        return STRICT_SCORES
    return ORIGINAL_SCORES if original_parser_folder() else (*ORIGINAL_SCORES, OTHER_PARSER)


def _parser_notes(case: Case) -> tuple[str, ...]:
    """A note on verdicts by the original rule without the original's parser."""
    if case.rules.profile == "strict" or original_parser_folder():
        return ()
    return (f"The original's parser is not installed, and reads some broken code otherwise: {install_command()}",)
