"""`fcall accept -i`: what changed in each answer, shown to a person who decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.reporting.account import Account, account_from_json
from pytest_fcall.reporting.account_text import question_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line, whole_line
from pytest_fcall.reporting.value_text import call_text, value_text
from pytest_fcall.tracking.question_digests import question_changes
from pytest_fcall.tracking.run_accounts import accounts_path, read_accounts
from pytest_fcall.tracking.stanza import Stanza


class BaselineChange(NamedTuple):
    """A verdict that would change a baseline, and what is accepted so far."""

    result: Result
    before: Stanza | None
    now: Stanza


def chosen_by_hand(changes: Sequence[BaselineChange], run: Path) -> list[tuple[Result, Stanza]]:
    """Show each change, and return the verdicts that the user accepts. The end of the input means quit."""
    accounts = _accounts_of(changes, run)
    chosen: list[tuple[Result, Stanza]] = []
    for number, change in enumerate(changes, start=1):
        print(f"[{number}/{len(changes)}]", *_lines(change, accounts.get(change.result.nodeid)), sep="\n")
        answer = _read_answer()
        if answer == "a":
            return [*chosen, *((each.result, each.now) for each in changes[number - 1 :])]
        if answer == "q":
            break
        if answer == "y":
            chosen.append((change.result, change.now))
    return chosen


def _accounts_of(changes: Sequence[BaselineChange], run: Path) -> dict[str, Account]:
    wanted = {change.result.nodeid for change in changes}
    found = {}
    for nodeid, account in read_accounts(accounts_path(run)) if wanted else ():
        if nodeid in wanted:
            with suppress(DamagedData):
                found[nodeid] = account_from_json(account)
    return found


def _lines(change: BaselineChange, account: Account | None) -> Iterator[str]:
    """The question, and the old and the new answer as a diff."""
    result, before = change.result, change.before
    outcome = result.outcome.value if result.outcome else "right"
    yield safe_line(f"{result.file}:{result.line} {result.case} ({result.model}): {outcome}")
    if account:
        yield from (f"  {line}" for line in question_lines(account))
    if before is not None and not before.valid:
        yield f"  accepted as wrong: {safe_line(', '.join(f'{kind} at {path}' for kind, path in before.reasons))}"
    old, new = _answer_lines(before) if before else [], _answer_lines(change.now)
    yield from _diff(old, new)
    causes = result.causes or (tuple(question_changes(before.digests, change.now.digests)) if before else ())
    yield from (f"  changed since: {whole_line(cause)}" for cause in causes)


def _answer_lines(stanza: Stanza) -> list[str]:
    calls = [call_text(call) for call in stanza.calls or ()] if stanza.calls is not None else ["(cannot be read)"]
    text = [f"text: {value_text(stanza.answer)}"] if stanza.answer else []
    requests = [
        f"inside the app, {safe_line(each.model)}: {'; '.join(map(call_text, each.calls or ())) or 'no call'}"
        for each in stanza.wire or ()
    ]
    return [*requests, *calls, *text] or ["(no call)"]


def _diff(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for kind, start, end, now_start, now_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (f"    {line}" for line in old[start:end])
        else:
            yield from (f"  - {line}" for line in old[start:end])
            yield from (f"  + {line}" for line in new[now_start:now_end])


def _read_answer() -> str:
    while True:
        try:
            word = input("accept? [y]es, [n]o, [a]ll remaining, [q]uit: ").strip().lower()[:1]
        except EOFError:
            print()
            return "q"
        if word in {"y", "n", "a", "q"}:
            return word
