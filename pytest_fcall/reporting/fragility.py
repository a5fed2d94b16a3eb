"""The rates at which verdicts flip in variants of cases, as a table and lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import known_sum
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, p_equation_text, p_value_text
from pytest_fcall.reporting.results import Result, VariantResult
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import wilson_interval
from pytest_fcall.reporting.terminal import cut_end, table_lines

TITLES: Final = ("variants", "", "cases", "answers", "to wrong", "to right", "flips", "95 %", "noise", "p")
_MOST_FLIPPED: Final = 5
_MOST_UNFIT: Final = 5


class FlipRow(NamedTuple):
    """The rate at which verdicts flip under one relation, as a row of the table."""

    relation: str
    cases: int
    answers: int
    to_wrong: int
    to_right: int
    rate: float
    noise: float | None
    """The rate at which verdicts flip where the same question is asked again; None where none was."""
    p_value: float
    word: str
    """`fragile`, or why not."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate. A case counts once, since its variants are alike."""
        return wilson_interval(self.rate * self.cases, self.cases)

    @property
    def flips_text(self) -> str:
        """The rate, its interval and the noise: `37.5 % [14, 69], noise 0.0 %`."""
        _, _, _, _, _, _, flips, interval, noise, _ = self.texts
        return f"{flips} {interval}, noise {noise}"

    @property
    def texts(self) -> list[str]:
        """The cells of its row."""
        low, high = self.interval
        return [
            safe_line(self.relation),
            self.word,
            f"{self.cases:,}",
            f"{self.answers:,}",
            f"{self.to_wrong:,}",
            f"{self.to_right:,}",
            accuracy_text(self.rate * self.cases, self.cases),
            f"[{100 * low:.0f}, {100 * high:.0f}]",
            "-" if self.noise is None else f"{100 * self.noise:.1f} %",
            p_value_text(self.p_value),
        ]


class RelationChange(NamedTuple):
    """The shares of right answers to variants by one relation: when the baseline was accepted, and now."""

    relation: str
    cases: int
    before: float
    """The mean share of right answers; each case counts once."""
    now: float
    p_value: float
    is_certain: bool
    """Whether chance does not explain the change."""

    @property
    def text(self) -> str:
        """The change in a line."""
        shares = f"{100 * self.before:.1f} % → {100 * self.now:.1f} % right"
        return (
            f"{safe_line(self.relation)} {shares} ({plural_text(self.cases, 'case')}, {p_equation_text(self.p_value)})"
        )


class ModelFlips(NamedTuple):
    """The relations under which the cases of one model were varied."""

    model: str
    rows: Sequence[FlipRow]
    unfit: Mapping[tuple[str, str], int]
    """The number of cases that a relation makes no variant of, by relation and reason."""
    changes: Sequence[RelationChange] = ()
    """The changes since the baseline was accepted, in the same variants."""

    @property
    def unfit_lines(self) -> list[str]:
        """A line for each relation that made no variant of some cases."""
        found: dict[str, list[str]] = {}
        for (relation, reason), count in sorted(self.unfit.items(), key=lambda pair: -pair[1]):
            found.setdefault(relation, []).append(f"{safe_line(reason)} ({plural_text(count, 'case')})")
        return [f"{safe_line(relation)} does not fit: {'; '.join(why)}" for relation, why in found.items()]


def flip_lines(models: Sequence[ModelFlips], results: Sequence[Result], width: int, *, fully: bool) -> Iterator[str]:
    """The table of each model, the variants that flipped under fragile relations, and what it all cost.

    `fully` lists everything that flipped, with what is different in it, and what did not fit.
    """
    for each in models:
        title = TITLES if len(models) == 1 else (f"variants of {safe_line(each.model)}", *TITLES[1:])
        yield from table_lines(title, [row.texts for row in each.rows], texts=2, width=width)
        yield from _flipped_lines(each, results, width, fully=fully)
        changed = [
            change.text for change in each.changes if change.is_certain or (fully and change.before != change.now)
        ]
        yield from (f"variants since the baseline: {text}" for text in changed)
        lines = each.unfit_lines
        yield from lines if fully else [cut_end(line, width) for line in lines[:_MOST_UNFIT]]
        if not fully and len(lines) > _MOST_UNFIT:
            yield f"and {len(lines) - _MOST_UNFIT} more relations do not fit some cases"
    yield from _usage_lines(results)


def flipped_text(result: Result, variant: VariantResult) -> str:
    """A variant that flipped, in a line: `typos-2 of cases/a.fc.yaml:4 oslo: wrong_value at calls[0].args.city`."""
    reasons = ", ".join(f"{kind} at {path}" if path else kind for kind, path in variant.reasons)
    became = f"wrong: {reasons}" if result.variants and result.variants.first else "right"
    count = "" if variant.asked == 1 else f" ({variant.right} of {variant.asked} right)"
    return safe_line(f"{variant.name} of {result.file}:{result.line} {result.case}{count} is {became}")


def _flipped_lines(model: ModelFlips, results: Sequence[Result], width: int, *, fully: bool) -> Iterator[str]:
    listed = {row.relation for row in model.rows if fully or row.word == "fragile"}
    found = [
        (result, variant)
        for result in results
        if result.model == model.model
        for variant in (result.variants.flipped if result.variants else ())
        if variant.relation in listed
    ]
    for result, variant in found if fully else found[:_MOST_FLIPPED]:
        line = f"  {flipped_text(result, variant)}"
        yield line if fully else cut_end(line, width)
        if fully and variant.difference:
            yield f"      {safe_line(variant.difference)}"
    if not fully and len(found) > _MOST_FLIPPED:
        yield f"  and {len(found) - _MOST_FLIPPED:,} more; -v lists all"


def _usage_lines(results: Sequence[Result]) -> Iterator[str]:
    """The answers that variants took, beside those to the cases themselves."""
    found = [result.variants for result in results if result.variants]
    if not found:
        return
    answers, replayed = sum(each.answers for each in found), sum(each.replayed for each in found)
    tokens = known_sum(
        count for each in found if each.usage for count in (each.usage.input_tokens, each.usage.output_tokens)
    )
    cost = known_sum(each.cost for each in found)
    parts = [
        f"variants took {plural_text(answers, 'answer')}",
        f"{replayed:,} replayed" if replayed else "",
        "" if tokens is None else f"{tokens:,} tokens",
        cost_text(cost),
    ]
    yield ", ".join(filter(None, parts))
