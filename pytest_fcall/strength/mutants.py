"""The mutants of a right answer: wrong answers that differ from it by one mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import CallPattern
from pytest_fcall.core.reply import Call
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import ToolSchema
from pytest_fcall.strength.examples import ExampleSources, NoExample
from pytest_fcall.strength.mistakes.arguments import wrong_arguments
from pytest_fcall.strength.mistakes.scripts import (
    Neighbours,
    WrongScript,
    forbidden_calls,
    wrong_answers,
    wrong_counts,
    wrong_orders,
    wrong_replies,
    wrong_tools,
)
from pytest_fcall.strength.right_answers import made_call
from pytest_fcall.strength.scripts import Script, call_places, with_call

MOST_MUTANTS: Final = 600
"""The most mutants of one case that are judged."""
_MOST_MADE: Final = 20_000
_MANY_CALLS: Final = 10
_LARGE: Final = 20_000
_LEAST_MUTANTS: Final = 40


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong answer: the kind of mistake, the tool and the place that it concerns, and what is wrong there."""

    mistake: str
    tool: str
    place: str
    detail: str
    script: Script


@dataclass(frozen=True, slots=True)
class Mutants:
    """The mutants of a case, and whether there are more of them."""

    mutants: tuple[Mutant, ...]
    bounded: bool = False


def mutants_of(case: Case, scripts: Sequence[Script], context: MatchContext, known: ExampleSources) -> Mutants:
    """All mutants of the right answers to a case; the same for the same case.

    Of too many, each kind of mistake keeps its share.
    """
    workshop = _Workshop(case, context, known)
    made: dict[bytes, Mutant] = {}
    total = 0
    for mutant in islice((each for script in scripts for each in workshop.mutants(script)), _MOST_MADE + 1):
        total += 1
        made.setdefault(_key(mutant.script), mutant)
    most = min(map(_most_judged, scripts))
    if len(made) <= most and total <= _MOST_MADE:
        return Mutants(tuple(made.values()))
    return Mutants(tuple(_spread(made.values(), most)), bounded=True)


def _spread(mutants: Iterable[Mutant], most: int) -> Iterator[Mutant]:
    """The first of each kind of mistake, then the second, and so on."""
    by_mistake: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_mistake.setdefault(mutant.mistake, []).append(mutant)
    longest = max(map(len, by_mistake.values()))
    in_turn = (group[index] for index in range(longest) for group in by_mistake.values() if index < len(group))
    yield from islice(in_turn, most)


def _key(script: Script) -> bytes:
    """Distinguishes scripts as the judge does: 1, 1.0 and true differ."""
    return blake2b(repr(script).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _most_judged(script: Script) -> int:
    """The number of mutants to judge: fewer of long answers. The time for each grows with the square of the calls."""
    calls = max(sum(len(turn.calls) for turn in script), _MANY_CALLS)
    size = max(len(repr(script)), _LARGE)
    return max(MOST_MUTANTS * _MANY_CALLS**2 // calls**2 * _LARGE // size, _LEAST_MUTANTS)


class _Workshop:
    """Makes mutants of one case. A call of a tool that was made up once is used again."""

    def __init__(self, case: Case, context: MatchContext, known: ExampleSources) -> None:
        self._case = case
        self._context = context
        self._known = known
        self._near = Neighbours(case.tools)
        self._made: dict[str, Call | None] = {}

    def mutants(self, script: Script) -> Iterator[Mutant]:
        """The mutants of one right answer."""
        case, tools = self._case, self._case.tools
        for place, call in call_places(script):
            for wrong in wrong_arguments(call.arguments, self._schema(call.name), self._known.words):
                mutated = with_call(script, place, Call(call.name, wrong.arguments))
                yield Mutant(wrong.mistake, call.name, wrong.place or "the arguments", wrong.detail, mutated)
        never = [(number, each) for number, turn in enumerate(case.turns) for each in self._never(number)]
        judged = [number for number, turn in enumerate(case.turns) if turn.answer is not None]
        wrong_scripts: tuple[Iterator[WrongScript], ...] = (
            wrong_tools(script, self._near, self._call),
            wrong_counts(script, self._near, self._call),
            wrong_orders(script),
            forbidden_calls(script, never, tools, self._forbidden),
            wrong_replies(script, tools, self._call),
            wrong_answers(script, judged),
        )
        for scripts in wrong_scripts:
            yield from (Mutant(*each) for each in scripts)

    def _never(self, turn: int) -> tuple[CallPattern, ...]:
        expect = self._case.turns[turn].expect
        return (*(expect.never if expect is not None else ()), *self._case.rules.never)

    def _call(self, tool: str) -> Call | None:
        if tool not in self._made:
            try:
                self._made[tool] = made_call(tool, None, self._context, self._known)
            except NoExample:
                self._made[tool] = None
        return self._made[tool]

    def _forbidden(self, tool: str, pattern: CallPattern) -> Call | None:
        try:
            return made_call(tool, pattern.arguments, self._context, self._known)
        except NoExample:
            return None

    def _schema(self, tool: str) -> ToolSchema | None:
        try:
            return self._context.schema(tool)
        except SchemaError:
            return None
