"""`--fc-bisect`: the edits that made the cases of a run regress, searched at its end where reports arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from pytest_fcall.core import Outcome
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import secrets_of
from pytest_fcall.plugin.session import session_of
from pytest_fcall.plugin.suspects import NotBisected, StoredSide, suspect_of
from pytest_fcall.reporting.bisected import cause_texts, explaining_edits
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.session.bisection.bisection import Bisection
from pytest_fcall.session.bisection.suspect import Allowance, Suspect

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
            found[item.nodeid] = replace(found[item.nodeid], bisected=(f"not possible: {secrets.redacted(str(why))}",))
    allowance = Allowance(requests, may_ask=not session_of(config).settings.replay)
    searched = Bisection(suspects).run(allowance) if suspects else []
    for case in searched:
        texts = tuple(secrets.redacted(text) for text in cause_texts(case))
        found[case.nodeid] = replace(found[case.nodeid], bisected=texts)
    explained = [case for case in searched if case.status == "found"]
    edits = explaining_edits(explained)
    what = f"{plural_text(len(edits), 'edit')} in {plural_text(len(explained), 'case')}" if explained else "no edit"
    sent = plural_text(allowance.asked, "request")
    first = f"bisected: found {what}, by {sent}; `fcall bisect` shows a table and a patch"
    return found, [first, *(f"  {secrets.redacted(edit.text)}" for edit in edits[:_MOST_LISTED])]


def _items(session: pytest.Session, wanted: set[str]) -> list[CaseItem]:
    return [item for item in session.items if isinstance(item, CaseItem) and item.nodeid in wanted]
