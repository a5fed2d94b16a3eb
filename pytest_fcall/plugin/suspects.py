"""Cases of a run as suspects of a bisection, and `--fc-bisect`, which searches for guilty edits at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import pytest

from pytest_fcall.backends.recordings.entry import BISECTED
from pytest_fcall.bisection.version import Difference, LaterTurn, Version
from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.request import Request
from pytest_fcall.core.verdict import Outcome, Rate
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import secrets_of
from pytest_fcall.plugin.session import session_of
from pytest_fcall.reporting.bisection import cause_texts, explaining_edits
from pytest_fcall.reporting.results import Result
from pytest_fcall.session.bisection.accepted_version import (
    KeptAnswers,
    NoAcceptedVersion,
    accepted_question,
    digests_of,
    stored_request,
)
from pytest_fcall.session.bisection.bisection import Bisection
from pytest_fcall.session.bisection.suspect import Allowance, EarlierAnswers, Suspect
from pytest_fcall.session.endings import CaseEnded
from pytest_fcall.session.models import HOW_TO_NAME_A_MODEL_OUTSIDE_TESTS, NamedModel
from pytest_fcall.tracking.baseline_content import UnreadableStanza
from pytest_fcall.tracking.measurement import Key
from pytest_fcall.tracking.question_digests import (
    EXPECTATION,
    changed_parts,
    expectation_digest,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.tracking.baseline_content import Baseline
    from pytest_fcall.tracking.stanza import Stanza


class OldQuestion(NamedTuple):
    """The old version of a question, and what is to be told of it."""

    version: Version
    notes: tuple[str, ...] = ()


class OldSide(Protocol):
    """Finds the old versions of questions."""

    def of(self, item: CaseItem, case: Case, today: Version, model: AskModel, named: NamedModel) -> OldQuestion:
        """The old version of a question; `model` is the one that was asked then. Raises NoAcceptedVersion."""
        ...


class NotBisected(Exception):
    """A case is not bisected. The text says why."""


class StoredSide:
    """The accepted questions, from what recordings and earlier runs keep of them."""

    def __init__(self, root: Path) -> None:
        self._right_answers = KeptAnswers(root)

    def of(self, item: CaseItem, case: Case, today: Version, model: AskModel, named: NamedModel) -> OldQuestion:  # noqa: ARG002  # as all sides
        """The accepted question, word for word."""
        stanza = _stanza(item.context.baseline(model.id, case.id), case)
        if stanza is None or not stanza.valid:
            stanza = self._right_answers.of(item.location[0], model.id, case.id)
        wanted = accepted_question(stanza, model.id)
        judged_by = stanza.digests.get(EXPECTATION) if stanza else None
        is_edited = judged_by not in (None, expectation_digest(case.undated or case))
        notes = ("what is expected changed since, too: today's expectation judges all answers",) if is_edited else ()
        if not changed_parts(wanted, digests_of(undated_request(case, today.request))):
            return OldQuestion(replace(today, model=model.id), notes)
        recorded = model.recorded_requests(today.request)
        former, is_dated = item.context.session.former_questions, case.undated is not None
        request = stored_request(wanted, today.request, recorded, former, is_dated=is_dated)
        return OldQuestion(Version(model.id, request, today.turns), notes)


def _stanza(baseline: Baseline | None, case: Case) -> Stanza | None:
    try:
        return baseline.stanzas.get(case.id) if baseline else None
    except UnreadableStanza as error:
        raise NotBisected(str(error)) from None


def undated_request(case: Case, request: Request) -> Request:
    """The request as a baseline keeps it: of a case with the day in its question, as on another day."""
    if case.undated and request.messages == case.turns[0].messages:
        return replace(request, messages=case.undated.turns[0].messages)
    return request


def suspect_of(item: CaseItem, side: OldSide, former: NamedModel | None, one_answer: bool | None) -> Suspect:
    """The case as a suspect; `former` is the model that was asked before, where that was another one.

    Raises NotBisected.
    """
    try:
        return _suspect(item, side, former, one_answer)
    except (NoAcceptedVersion, CaseEnded) as why:
        raise NotBisected(str(why)) from None


def _suspect(item: CaseItem, side: OldSide, former: NamedModel | None, one_answer: bool | None) -> Suspect:
    case, session = item.case, item.context.session
    if isinstance(case, FaultyCase):
        raise NotBisected(case.faults[0].message)
    if item.named is None:
        raise NotBisected(HOW_TO_NAME_A_MODEL_OUTSIDE_TESTS)
    if not item.context.own_model:
        raise NotBisected("a fixture of a conftest file is its model, which is there in tests only")
    if item.is_skipped:
        raise NotBisected("it is skipped")
    asker = item.asker._replace(case=f"{case.id}{BISECTED}")
    own = session.model(item.named, item.asker)
    today = Version(own.id, item.final_request(own.settings), later_turns(case))
    before = session.model(former, item.asker) if former else own
    old, notes = side.of(item, case, today, before, former or item.named)
    difference = Difference(old, today)
    if not difference.edits:
        raise NotBisected(_unchanged(item))
    models = {own.id: session.model(item.named, asker)}
    models[before.id] = session.model(former, asker) if former else models[own.id]
    return Suspect(
        item.nodeid,
        item.path,
        case,
        models,
        difference,
        item.judge_of,
        _measured(item, case, difference),
        [*own.recorded_requests(today.request), *models[own.id].recorded_requests(today.request)],
        one_answer,
        [*notes],
    )


def later_turns(case: Case) -> tuple[LaterTurn, ...]:
    """The turns after the first."""
    return tuple(LaterTurn(turn.messages, turn.tools) for turn in case.turns[1:])


def _unchanged(item: CaseItem) -> str:
    """The reason why there is no edit to search for, and what may have changed instead."""
    text = "the question is the accepted one, word for word"
    if item.named and item.named.model.kind in ("python", "http"):
        return f"{text}; what changed may be the code of the app, of which no part is in the case"
    return f"{text}; what changed is behind the name of the model: `fcall history` shows since when"


def _measured(item: CaseItem, case: Case, difference: Difference) -> EarlierAnswers:
    """The answers of earlier runs to both questions, as judged by today's expectation."""
    session = item.context.session
    old, today = difference.version(frozenset()), difference.version(difference.all)
    rates = session.doubt.test(today.model, 1, is_asked=False).rates
    expected = expectation_digest(case.undated or case)
    sides = []
    for version in (old, today):
        key = Key.of({**digests_of(undated_request(case, version.request)), EXPECTATION: expected})
        baseline = item.context.baseline(version.model, case.id)
        measured = baseline.measured.get(case.id) if baseline else None
        is_measured = measured is not None and measured.key == key
        rate, until = (measured.rate, measured.until) if measured and is_measured else (Rate(0, 0), "")
        for verdict in session.doubt.history.of(item.location[0], version.model, case.id):
            if verdict.key == key and verdict.run > until:
                rate = rate.plus(verdict.rate)
        sides.append(rate)
    return EarlierAnswers(rates, *sides)


_MOST_LISTED: Final = 5
_WANTED: Final = (Outcome.REGRESSED, Outcome.UNDECIDED)


def bisect_regressions(
    session: pytest.Session, results: Mapping[str, Result], requests: int
) -> tuple[dict[str, Result], list[str]]:
    """The results with what was found of those that regressed, and lines for people."""
    wanted = {nodeid for nodeid, result in results.items() if result.outcome in _WANTED}
    found = dict(results)
    if not wanted:
        return found, []
    config = session.config
    if config.pluginmanager.has_plugin("dsession"):
        return found, ["not bisected, as the workers of pytest-xdist hold the cases: `fcall bisect` searches this run"]
    secrets = secrets_of(config)
    suspects: list[Suspect] = []
    side = StoredSide(config.rootpath)
    for item in sorted(_items(session, wanted), key=lambda item: item.place):
        try:
            suspects.append(suspect_of(item, side, None, None))
        except NotBisected as why:
            found[item.nodeid] = found[item.nodeid]._replace(bisected=(f"not possible: {secrets.redacted(str(why))}",))
    allowance = Allowance(requests, may_ask=not session_of(config).settings.replay)
    searched = Bisection(suspects).run(allowance) if suspects else []
    for case in searched:
        texts = tuple(secrets.redacted(text) for text in cause_texts(case))
        found[case.nodeid] = found[case.nodeid]._replace(bisected=texts)
    explained = [case for case in searched if case.status == "found"]
    edits = explaining_edits(explained)
    what = f"{plural_text(len(edits), 'edit')} in {plural_text(len(explained), 'case')}" if explained else "no edit"
    sent = plural_text(allowance.asked, "request")
    first = f"bisected: found {what}, by {sent}; `fcall bisect` shows a table and a patch"
    return found, [first, *(f"  {secrets.redacted(edit.text)}" for edit in edits[:_MOST_LISTED])]


def _items(session: pytest.Session, wanted: set[str]) -> list[CaseItem]:
    return [item for item in session.items if isinstance(item, CaseItem) and item.nodeid in wanted]
