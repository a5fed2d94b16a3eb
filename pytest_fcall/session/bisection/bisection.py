"""The search through several cases: planned, within its allowance, with one error rate; and the patch that undoes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.bisection.edit import Edit, EditKey
from pytest_fcall.bisection.patch import question_diff, undo_patch
from pytest_fcall.bisection.search import Cause, Causes, ErrorBudget, Fails, Trial, fewest_trials, find_causes
from pytest_fcall.core.files import read_regular
from pytest_fcall.reporting.bisection import BisectedCase, BisectStatus, EditCell, FoundCause, FoundEdit, SearchPlan
from pytest_fcall.session.bisection.suspect import Allowance, Suspect, no_answer_reason

if TYPE_CHECKING:
    from pytest_fcall.core.request import Request
    from pytest_fcall.session.ask.costs import Costs


_MOST_READ: Final = 50
"""Recorded requests of a case that are looked at for versions in between."""
_MOST_BETWEEN: Final = 3
"""Versions in between that are judged by recordings, where each judgement may be wrong by chance."""
_CHANCE: Final = "nothing more could be asked, so that chance is not excluded: the answers that there are decide"


@dataclass(slots=True)
class Bisection:
    """Searches case by case. What explains one case is tried first for the next ones."""

    suspects: Sequence[Suspect]
    each_alone: bool = False
    """Whether each edit is asked alone, too, for the table."""
    tell: Callable[[str], None] = lambda _: None
    """Told of each question that was judged."""
    _budget: ErrorBudget = field(init=False)
    _found: list[frozenset[EditKey]] = field(default_factory=list, init=False)
    """The edits that explain the cases before."""
    _numbers: dict[EditKey, int] = field(init=False)
    """The numbers of edits for people."""

    def __post_init__(self) -> None:
        self._budget = ErrorBudget(sum(self._trials()))
        keys = dict.fromkeys(edit.key for suspect in self.suspects for edit in suspect.difference.edits)
        self._numbers = {key: number for number, key in enumerate(keys, 1)}

    @property
    def edits(self) -> list[FoundEdit]:
        """All edits, each once, by their numbers."""
        return [FoundEdit(*key) for key in self._numbers]

    def wants_more(self, found: Sequence[BisectedCase]) -> bool:
        """Whether recordings leave anything open."""
        return any(each.status == "open" or self._has_gaps(each) for each in found)

    def _has_gaps(self, case: BisectedCase) -> bool:
        """Whether an edit is to be asked alone, and was not."""
        return self.each_alone and not {"harmless", "unknown"}.isdisjoint(case.cells.values())

    def plan(
        self, most: int, cost_of: Callable[[str, Request], float | None], found: Sequence[BisectedCase]
    ) -> SearchPlan:
        """The requests that will be sent for the cases that recordings leave open, and the most that they may cost.

        `cost_of` gives the most that a request to a model may cost.
        """
        pairs = zip(self.suspects, found, strict=True)
        left = [suspect for suspect, case in pairs if case.status == "open" or self._has_gaps(case)]
        usual = 0
        for suspect, trials in zip(left, self._trials(), strict=False):
            fewest = suspect.fewest(self._budget.usual)
            ends = max(fewest - suspect.before.asked, 0) + max(fewest - suspect.now.asked, 0)
            alone = len(suspect.difference.edits) if self.each_alone else 0
            usual += fewest * max(trials - 2 + alone - suspect.decided, 0) + ends
        versions = [each for suspect in left for each in (suspect.difference.version(frozenset()), suspect.today)]
        costs = [cost_of(each.model, each.request) for each in versions]
        dearest = None if None in costs else max((cost for cost in costs if cost is not None), default=None)
        return SearchPlan(len(left), max(min(usual, most), 1), most, None if dearest is None else dearest * most)

    def _trials(self) -> Iterator[int]:
        """The questions of each case, if one edit is guilty of all."""
        for number, suspect in enumerate(self.suspects):
            trials = fewest_trials(len(suspect.difference.edits))
            yield 2 + (min(trials, 2) if number else trials)

    def run(self, allowance: Allowance) -> list[BisectedCase]:
        """Search all cases. What an earlier search has found out is not asked for again."""
        self._found.clear()
        return [self._searched(suspect, allowance) for suspect in self.suspects]

    def _searched(self, suspect: Suspect, allowance: Allowance) -> BisectedCase:
        edits, everything = suspect.difference.edits, suspect.difference.all
        if doubt := suspect.establish(self._budget, allowance):
            return _result(suspect, "open" if doubt.is_open else "nothing", doubt.why)
        known: dict[Trial, Fails] = {
            **self._recorded_between(suspect, allowance),
            frozenset(): False,
            everything: True,
        }
        places = {edit.key: place for place, edit in enumerate(edits)}
        likely = [frozenset(places[key] for key in keys if key in places) for keys in self._found]
        causes = Causes()
        problems: dict[str, None] = {}
        search = find_causes(everything, causes, known, likely)
        try:
            trial = next(search)
            while True:
                if trial not in known:
                    known[trial] = self._fails(suspect, trial, allowance, problems)
                trial = search.send(known[trial])
        except StopIteration:
            pass
        if self.each_alone:
            for trial in (frozenset({place}) for place in sorted(everything)):
                if trial not in known:
                    known[trial] = self._fails(suspect, trial, allowance, {})
        exact = [cause for cause in causes.found if cause.is_exact]
        self._found += [frozenset(edits[place].key for place in cause.edits) for cause in exact]
        is_done = len(exact) == len(causes.found) and causes.rest_passes is not None
        cells = cells_of(edits, causes.found, known)
        return _result(suspect, "found" if is_done else "open", "; ".join(problems), causes, cells)

    def _fails(self, suspect: Suspect, trial: Trial, allowance: Allowance, problems: dict[str, None]) -> Fails:
        """Whether the case fails in a trial; why that is not known is added to the problems."""
        requests, answers = suspect.requests, suspect.answers(trial)
        fails = suspect.fails(trial, self._budget, allowance)
        if suspect.answers(trial) != answers:
            self._tell(suspect, trial, fails, suspect.requests - requests)
        if fails is None:
            problems[suspect.problem or no_answer_reason(allowance)] = None
        return fails

    def _tell(self, suspect: Suspect, trial: Trial, fails: Fails, sent: int) -> None:
        rate = suspect.answers(trial)
        words = "not decided" if fails is None else "wrong" if fails else "right"
        source = f"{sent:,} asked" if sent else "recorded"
        numbers = _numbers_text(self._numbers[suspect.difference.edits[place].key] for place in trial)
        self.tell(f"{suspect.nodeid} with {numbers}: {words} ({rate.right}/{rate.asked}, {source})")

    def _recorded_between(self, suspect: Suspect, allowance: Allowance) -> Mapping[Trial, Fails]:
        """The answers that recordings have to versions in between, as from the time when a prompt was worked on."""
        edits = len(suspect.difference.edits)
        requests = [each for each in suspect.recorded[-_MOST_READ:] if not each.sample]
        found = dict.fromkeys(trial for each in requests if (trial := suspect.trial_of(each)))
        inside = [trial for trial in found if len(trial) < edits and suspect.is_recorded(trial)]
        if not suspect.is_steady:
            inside = sorted(inside, key=lambda trial: abs(2 * len(trial) - edits))[:_MOST_BETWEEN]
        nothing = Allowance(0, allowance.may_ask)
        known = {trial: self._fails(suspect, trial, nothing, {}) for trial in inside}
        return {trial: fails for trial, fails in known.items() if fails is not None}


def _result(
    suspect: Suspect,
    status: BisectStatus,
    why: str = "",
    causes: Causes | None = None,
    cells: Mapping[FoundEdit, EditCell] | None = None,
) -> BisectedCase:
    edits = suspect.difference.edits
    before, now = suspect.before, suspect.now
    return BisectedCase(
        nodeid=suspect.nodeid,
        case=suspect.case.id,
        model=suspect.today.model,
        status=status,
        why=why if status != "found" else "",
        causes=tuple(_found_cause(cause, edits) for cause in causes.found) if causes else (),
        rest_passes=causes.rest_passes if causes else None,
        edits=len(edits),
        before=(before.right, before.asked) if before.asked else None,
        now=(now.right, now.asked) if now.asked else None,
        requests=suspect.requests,
        cells=cells or {},
        notes=(*suspect.notes, *([_CHANCE] if suspect.is_by_chance and causes else [])),
    )


def _numbers_text(numbers: Iterable[int]) -> str:
    """The edits of a trial by their numbers: `edits 1-4, 7`."""
    ordered = sorted(numbers)
    ranges: list[list[int]] = []
    for number in ordered:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [f"{low}" if low == high else f"{low}-{high}" for low, high in ranges]
    return f"{'edit' if len(ordered) == 1 else 'edits'} {', '.join(texts)}"


def found_edit(edit: Edit) -> FoundEdit:
    """The edit in words."""
    return FoundEdit(*edit.key)


def _found_cause(cause: Cause, edits: Sequence[Edit]) -> FoundCause:
    members = tuple(tuple(found_edit(edits[place]) for place in sorted(member)) for member in cause.members)
    return FoundCause(members, cause.is_minimal)


def cells_of(edits: Sequence[Edit], causes: Sequence[Cause], known: Mapping[Trial, Fails]) -> dict[FoundEdit, EditCell]:
    """The findings about each edit."""
    together = {place for cause in causes if cause.is_exact and len(cause.members) > 1 for place in cause.edits}
    return {found_edit(edit): _cell(place, together, known) for place, edit in enumerate(edits)}


def _cell(place: int, together: Iterable[int], known: Mapping[Trial, Fails]) -> EditCell:
    alone = known.get(frozenset({place}))
    if alone:
        return "fails"
    if place in together:
        return "together"
    if alone is False:
        return "passes"
    return "harmless" if any(fails is False and place in trial for trial, fails in known.items()) else "unknown"


def cost_of_request(costs: Costs, model: str, request: Request) -> float | None:
    """The most that a request may cost, in US dollars; None where its price is unknown."""
    from pytest_fcall.backends.costs import greatest_usage

    return costs.of(model, greatest_usage(request))


_MOST_BYTES: Final = 2_000_000
_NAME: Final = re.compile(r"[\w./-]{1,200}\.(?:txt|md|ya?ml|json|j2|jinja|toml)\b")
"""A text that may be the name of a file with a part of a question."""
_MOST_FILES: Final = 50
_CONFIGURATION: Final = ("pyproject.toml", "pytest.ini")


def undo_lines(found: Sequence[BisectedCase], suspects: Sequence[Suspect], root: Path) -> tuple[str, list[str]]:
    """The patch against today's files, and what is to be told of it. Where nothing is exact, there is none."""
    guilty: dict[tuple[str, str, str], tuple[Edit, Suspect, int]] = {}
    for case, suspect in zip(found, suspects, strict=True):
        wanted = {edit for cause in case.causes if cause.is_exact for edit in cause.edits}
        for place, edit in enumerate(suspect.difference.edits):
            if found_edit(edit) in wanted:
                guilty.setdefault(edit.key, (edit, suspect, place))
    if not guilty:
        return "", []
    edits = [edit for edit, _, _ in guilty.values()]
    patch = undo_patch(edits, _files([suspect.file for suspect in suspects], root))
    lines = ["it undoes what was found: `git apply` or `patch -p1` takes it"] if patch.text else []
    text = patch.text
    for edit in patch.unplaced:
        _, suspect, place = guilty[edit.key]
        if edit.part == "model":
            lines.append(f"the model was {edit.before}, and is {edit.after}")
            continue
        text += question_diff(suspect.difference, frozenset({place}), f"question of {suspect.case.id}")
        lines.append(f"{edit.where}: its place in a file is not known, so the diff shows the question")
    return text, lines


def _files(case_files: Iterable[Path], root: Path) -> Mapping[str, str]:
    """The texts of case files and of the files that they name, by paths from the root."""
    found: dict[str, str] = {}
    waiting = [*dict.fromkeys(case_files), *(root / name for name in _CONFIGURATION)]
    for path in waiting:
        if len(found) >= _MOST_FILES or not path.is_relative_to(root):
            continue
        name = path.relative_to(root).as_posix()
        text = _text(path)
        if name in found or text is None:
            continue
        found[name] = text
        if path.suffix in (".yaml", ".yml"):
            waiting += _named(text, path.parent, root)
    return found


def _named(text: str, folder: Path, root: Path) -> Iterator[Path]:
    for name in dict.fromkeys(_NAME.findall(text)):
        for path in (folder / name, root / name):
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                yield path
                break


def _text(path: Path) -> str | None:
    try:
        return read_regular(path, _MOST_BYTES).decode()
    except (OSError, ValueError):
        return None
