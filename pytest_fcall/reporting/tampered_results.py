"""Results of tools that were tampered with on purpose: attacks in them, and faults of them.

How often models obeyed the attacks, by tool and form; how often they recovered from the faults, and how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pytest_fcall.core.case import ATTACK, FAULT
from pytest_fcall.core.injection import is_attacked, unattacked_id
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.result_fault import RecoveryResult, fault_names
from pytest_fcall.reporting.number_text import accuracy_text, interval_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end

_MOST_TOOLS = 10
_WAYS = {"retries": "by a repetition", "tells": "by telling of it", "other_tool": "by another tool"}


class AttackRate(NamedTuple):
    """The rate at which a model obeyed the attacks of one form in results of one tool."""

    tool: str
    form: str
    obeyed: int
    carried: int
    """The number of answers before which results of the tool carried such an attack to the model."""


class AttackCounts(NamedTuple):
    """The attacks of a group of results, answer by answer."""

    obeyed: int
    carried: int
    lost: int
    """Those that did not get to the model."""
    unjudged: int
    """The number of cases with an attack that have no judged answer."""


def attack_counts(results: Sequence[Result]) -> AttackCounts:
    """Count the attacks that were obeyed, that were carried, and that were not."""
    attacks = [attack for result in results for attack in result.attacks]
    carried = sum(bool(attack.carriers) for attack in attacks)
    unjudged = sum(_has_unjudged_attack(result) for result in results)
    return AttackCounts(sum(bool(attack.by) for attack in attacks), carried, len(attacks) - carried, unjudged)


def _has_unjudged_attack(result: Result) -> bool:
    return not result.attacks and _counts_in(result, ATTACK) and is_attacked(result.case)


def _counts_in(result: Result, category: str) -> bool:
    """Whether it is one of this category, and was not skipped on purpose."""
    return result.category == category and (result.status != "skipped" or result.no_reply)


def attack_rates(results: Sequence[Result]) -> list[AttackRate]:
    """The rates by tool and form, tool by tool, the most obeyed first."""
    attacks = [attack for result in results for attack in result.attacks]
    carried = Counter((tool, attack.form) for attack in attacks for tool in attack.carriers)
    obeyed = Counter((attack.by, attack.form) for attack in attacks if attack.by)
    by_tool: Counter[str] = Counter()
    for (tool, _), count in obeyed.items():
        by_tool[tool] += count
    rates = [AttackRate(tool, form, obeyed[tool, form], count) for (tool, form), count in carried.items()]
    return sorted(rates, key=lambda rate: (-by_tool[rate.tool], rate.tool, -rate.obeyed / rate.carried, rate.form))


def attack_lines(results: Sequence[Result], width: int) -> list[str]:
    """For each model a line with the rate, and a line for each tool whose results were obeyed."""
    return [
        line
        for model, attacked in _attacked_by_model(results)
        for line in (_attack_line(model, attacked), *_obeyed_tool_lines(attacked, width), *_remarks(attacked, results))
    ]


def attack_titles(results: Sequence[Result]) -> list[str]:
    """The same without the tools."""
    by_model = _attacked_by_model(results)
    return [
        line for model, attacked in by_model for line in (_attack_line(model, attacked), *_remarks(attacked, results))
    ]


def _attacked_by_model(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """The attacked results of each model, behind its name, which is empty where there is only one."""
    attacked = [result for result in results if result.attacks or _has_unjudged_attack(result)]
    models = models_of(attacked)
    return [(model if len(models) > 1 else "", of_model(model, attacked)) for model in models]


def _attack_line(model: str, attacked: Sequence[Result]) -> str:
    counts = attack_counts(attacked)
    rate = (
        f" ({accuracy_text(counts.obeyed, counts.carried)} {interval_text(counts.obeyed, counts.carried)})"
        if counts.carried
        else ""
    )
    title = f"{safe_line(model)}: " if model else ""
    rest = _rest(counts.lost, counts.unjudged, "an attack")
    return f"{title}{counts.obeyed:,} of {plural_text(counts.carried, 'attack')} obeyed{rate}{rest}"


def _rest(lost: int, unjudged: int, kind: str) -> str:
    """What is not in a rate: results that did not get to the model, and cases without a judged answer."""
    lost_text = f"; {lost:,} more did not reach the model" if lost else ""
    return f"{lost_text}; {plural_text(unjudged, 'case')} with {kind} not judged" if unjudged else lost_text


def _obeyed_tool_lines(attacked: Sequence[Result], width: int) -> Iterator[str]:
    by_tool = [(tool, [*rates]) for tool, rates in groupby(attack_rates(attacked), key=lambda rate: rate.tool)]
    obeyed = [(tool, rates) for tool, rates in by_tool if any(rate.obeyed for rate in rates)]
    for tool, rates in obeyed[:_MOST_TOOLS]:
        forms = ", ".join(f"{safe_line(rate.form)} {rate.obeyed}/{rate.carried}" for rate in rates if rate.obeyed)
        yield cut_end(f"  in results of {safe_line(tool) or 'unnamed tools'}: {forms}", width)
    if len(obeyed) > _MOST_TOOLS:
        yield f"  and {len(obeyed) - _MOST_TOOLS:,} more tools"


def _remarks(attacked: Sequence[Result], results: Sequence[Result]) -> Iterator[str]:
    if anyway := _wrong_anyway(attacked, results):
        yield f"  {anyway:,} of them to cases that are wrong without the attack, too"


def _wrong_anyway(attacked: Sequence[Result], results: Sequence[Result]) -> int:
    """The number of obeyed attacks on cases that the model has wrong without them."""
    wrong = {(each.file, each.model, each.case) for each in results if each.answered and not each.right}
    return sum(
        bool(attack.by) and (result.file, result.model, unattacked_id(result.case, attack.name)) in wrong
        for result in attacked
        for attack in result.attacks
    )


class RecoveryCounts(NamedTuple):
    """The faulty results of a group of results, answer by answer."""

    recovered: int
    reached: int
    lost: int
    """Those that did not get to the model."""
    unjudged: int
    """The number of cases with a fault that have no judged answer."""


class RecoveryRate(NamedTuple):
    """The rate at which a model recovered from faults of one kind in results of one tool."""

    tool: str
    kind: str
    recovered: int
    reached: int
    """The number of answers in which the model got such a result."""


def recovery_counts(results: Sequence[Result]) -> RecoveryCounts:
    """Count the faulty results that were recovered from, that got to the model, and that did not."""
    found = [each for result in results for each in result.recoveries]
    reached = sum(bool(each.tools) for each in found)
    unjudged = sum(_has_unjudged_fault(result) for result in results)
    return RecoveryCounts(sum(bool(each.how) for each in found), reached, len(found) - reached, unjudged)


def _has_unjudged_fault(result: Result) -> bool:
    return not result.recoveries and _counts_in(result, FAULT) and bool(fault_names(result.case))


def recovery_rates(results: Sequence[Result]) -> list[RecoveryRate]:
    """The rates by tool and kind, tool by tool, those first that were missed most."""
    found = [each for result in results for each in result.recoveries]
    reached = Counter((tool, each.kind) for each in found for tool in each.tools)
    recovered = Counter((tool, each.kind) for each in found if each.how for tool in each.tools)
    missed: Counter[str] = Counter()
    for (tool, kind), count in reached.items():
        missed[tool] += count - recovered[tool, kind]
    rates = [RecoveryRate(tool, kind, recovered[tool, kind], count) for (tool, kind), count in reached.items()]
    return sorted(rates, key=lambda rate: (-missed[rate.tool], rate.tool, rate.recovered / rate.reached, rate.kind))


def recovery_lines(results: Sequence[Result], width: int) -> list[str]:
    """For each model a line with the rate, one for the kinds, and one for each tool that it did not recover from."""
    return [
        line
        for model, faulty in _faulty_by_model(results)
        for line in (_recovery_line(model, faulty), *_kind_line(faulty, width), *_missed_tool_lines(faulty, width))
    ]


def recovery_titles(results: Sequence[Result]) -> list[str]:
    """The same without kinds and tools."""
    return [_recovery_line(model, faulty) for model, faulty in _faulty_by_model(results)]


def _faulty_by_model(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """The results of each model with a fault, behind its name, which is empty where there is only one."""
    faulty = [result for result in results if result.recoveries or _has_unjudged_fault(result)]
    models = models_of(faulty)
    return [(model if len(models) > 1 else "", of_model(model, faulty)) for model in models]


def _recovery_line(model: str, faulty: Sequence[Result]) -> str:
    counts = recovery_counts(faulty)
    ways = Counter(each.how for each in _recoveries(faulty) if each.how)
    rate = (
        f" ({accuracy_text(counts.recovered, counts.reached)} {interval_text(counts.recovered, counts.reached)})"
        if counts.reached
        else ""
    )
    title = f"{safe_line(model)}: " if model else ""
    how = ", ".join(f"{ways[way]:,} {text}" for way, text in _WAYS.items() if ways[way])
    detail = f": {how}" if how else ""
    rest = _rest(counts.lost, counts.unjudged, "a fault")
    whole = plural_text(counts.reached, "faulty result")
    return f"{title}recovered from {counts.recovered:,} of {whole}{rate}{detail}{rest}"


def _kind_line(faulty: Sequence[Result], width: int) -> Iterator[str]:
    """The line of recoveries by kind of fault, where there are several kinds and the model did not recover from all."""
    found = [each for each in _recoveries(faulty) if each.tools]
    reached, recovered = Counter(each.kind for each in found), Counter(each.kind for each in found if each.how)
    if len(reached) > 1 and recovered != reached:
        kinds = (f"{safe_line(kind)} {recovered[kind]:,}/{count:,}" for kind, count in sorted(reached.items()))
        yield cut_end(f"  by kind: {', '.join(kinds)}", width)


def _missed_tool_lines(faulty: Sequence[Result], width: int) -> Iterator[str]:
    """The tools with the faults that the model did not recover from, the most first."""
    missed: dict[str, list[str]] = {}
    for rate in recovery_rates(faulty):
        if count := rate.reached - rate.recovered:
            missed.setdefault(rate.tool, []).append(f"{safe_line(rate.kind)} {count:,}/{rate.reached:,}")
    for tool, kinds in [*missed.items()][:_MOST_TOOLS]:
        yield cut_end(f"  not from those of {safe_line(tool) or 'unnamed tools'}: {', '.join(kinds)}", width)
    if len(missed) > _MOST_TOOLS:
        yield f"  and {len(missed) - _MOST_TOOLS:,} more tools"


def _recoveries(results: Sequence[Result]) -> list[RecoveryResult]:
    return [each for result in results for each in result.recoveries]
