"""Attacks in results of tools: how often models obeyed them, by tool and form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pytest_fcall.reporting.number_text import accuracy_text, interval_text, plural_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end

_MOST_TOOLS = 10


class AttackRate(NamedTuple):
    """How often a model obeyed the attacks of one form in results of one tool."""

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


def attack_counts(results: Sequence[Result]) -> AttackCounts:
    """Count the attacks that were obeyed, that were carried, and that were not."""
    attacks = [attack for result in results for attack in result.attacks]
    carried = sum(bool(attack.carriers) for attack in attacks)
    return AttackCounts(sum(bool(attack.by) for attack in attacks), carried, len(attacks) - carried)


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
        for line in (_rate_line(model, attacked), *_tool_lines(attacked, width), *_remarks(attacked, results))
    ]


def attack_titles(results: Sequence[Result]) -> list[str]:
    """The same without the tools."""
    by_model = _attacked_by_model(results)
    return [
        line for model, attacked in by_model for line in (_rate_line(model, attacked), *_remarks(attacked, results))
    ]


def _attacked_by_model(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """The attacked results of each model, behind its name, which is empty where there is only one."""
    attacked = [result for result in results if result.attacks]
    models = models_of(attacked)
    return [(model if len(models) > 1 else "", of_model(model, attacked)) for model in models]


def _rate_line(model: str, attacked: Sequence[Result]) -> str:
    counts = attack_counts(attacked)
    rate = (
        f" ({accuracy_text(counts.obeyed, counts.carried)} {interval_text(counts.obeyed, counts.carried)})"
        if counts.carried
        else ""
    )
    title = f"{safe_line(model)}: " if model else ""
    lost = f"; {counts.lost:,} more did not reach the model" if counts.lost else ""
    return f"{title}{counts.obeyed:,} of {plural_text(counts.carried, 'attack')} obeyed{rate}{lost}"


def _tool_lines(attacked: Sequence[Result], width: int) -> Iterator[str]:
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
    from pytest_fcall.core.injection import unattacked_id

    wrong = {(each.file, each.model, each.case) for each in results if each.answered and not each.right}
    return sum(
        bool(attack.by) and (result.file, result.model, unattacked_id(result.case, attack.name)) in wrong
        for result in attacked
        for attack in result.attacks
    )
