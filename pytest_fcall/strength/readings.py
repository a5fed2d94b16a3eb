"""The parts that a case leaves open, and readings of the case with such parts closed.

The *named reading* of a case accepts its right answers and what the case and the schemas say to be the same: defaults,
calls in any order, alternatives that are listed, what may be left out. A mistake that it accepts means the same; one
that only the case accepts has survived. So what is the same is decided by the rules that judge, and never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal, TypeAlias

from pytest_fcall.cases.expectation_places import PlacedPart
from pytest_fcall.cases.yaml.values import mark_literal, write_flow
from pytest_fcall.core.bounded_text import glob_matches, is_glob
from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, MatchRule
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.matching.place import ValuePath, is_list, is_number
from pytest_fcall.strength.examples import UNSPECIFIC
from pytest_fcall.strength.right_answers import ExpectedPlace, RightAnswers

_NAMING: Final = frozenset({"text", "normalised", "date", "literal", "from"})
"""Operators that name one value, in whatever spelling."""
_OF_SETS: Final = frozenset({"subset", "each", "contains"})
"""Operators that look at the items of a list one by one, whatever their order."""
_INNERMOST: Final = 40
_LONGEST_EDIT: Final = 60
_WIDEST_SHARE: Final = 50


@dataclass(frozen=True, slots=True)
class OpenPlace:
    """A place of a case that accepts more than its right answers; of a rule in `match`, `call` is the number."""

    part: PlacedPart
    turn: int = 0
    alternative: int = 0
    call: int = 0
    path: ValuePath = ()


@dataclass(frozen=True, slots=True)
class Looseness:
    """An expectation that accepts more than the right answers."""

    place: OpenPlace
    written: str
    """The expectation as the case has it, such as `$ignore`."""
    edit: str
    """The smallest edit after which it does not."""
    by_rule: bool = False
    """Whether a rule leaves one parameter open wherever it occurs: a decision, and no gap."""
    rule: str = ""
    """The path of the rule of `match:`, where it is one."""


PlaceChoice: TypeAlias = Callable[[OpenPlace], bool]


def loosenesses(case: Case, right: RightAnswers) -> tuple[Looseness, ...]:
    """All expectations of a case that accept more than its right answers."""
    reader = _Reader(case, right, lambda _: False)
    reader.read()
    return tuple(reader.found)


def tighten_case(case: Case, right: RightAnswers, chosen: PlaceChoice) -> Case:
    """The case in which the chosen places accept the right answers only."""
    return _Reader(case, right, chosen).read()


_REMOVED: Final = Operator("removed")


class _Reader:
    """Reads a case from top to bottom, notes what is open, and closes the chosen places."""

    def __init__(self, case: Case, right: RightAnswers, chosen: PlaceChoice) -> None:
        self.found: list[Looseness] = []
        self._case = case
        self._right = right
        self._chosen = chosen
        self._closed_rules: tuple[MatchRule, ...] = ()

    def read(self) -> Case:
        """The case with the chosen places closed. Its suite's judge is left out, as it would not see that."""
        rules = self._case.rules
        closed = {number: rule for number, rule in enumerate(rules.match) if self._is_closed(number, rule)}
        self._closed_rules = tuple(closed.values())
        turns = tuple(self._turn(number, turn) for number, turn in enumerate(self._case.turns))
        if closed:
            left = tuple(rule for number, rule in enumerate(rules.match) if number not in closed)
            rules = rules._replace(match=left)
        return replace(self._case, turns=turns, rules=rules, judge=None)

    def _close(self, place: OpenPlace, written: str, edit: str) -> bool:
        """Note an open place; whether it is to be closed."""
        self.found.append(Looseness(place, written, edit))
        return self._chosen(place)

    def _is_closed(self, number: int, rule: MatchRule) -> bool:
        if rule.operator is None or rule.operator.name in _NAMING:
            return False
        parameter = rule.path.rpartition(".")[2]
        deliberate = rule.operator.name == "ignore" and not is_glob(parameter)
        written = f"`{rule.path}: ${rule.operator.name}` in `match:`"
        edit = f"leave the rule for `{rule.path}` out of `match:`, so that each case says what is right"
        place = OpenPlace("match", call=number)
        self.found.append(Looseness(place, written, edit, deliberate, rule.path))
        return self._chosen(place)

    def _turn(self, number: int, turn: Turn) -> Turn:
        answer = turn.answer
        if answer is not None and number in self._right.texts:
            place = OpenPlace("answer", number)
            answer = self._pattern(answer, self._right.texts[number], place, "answer")
        return replace(turn, expect=self._expect(number, turn), answer=answer)

    def _expect(self, number: int, turn: Turn) -> Expectation | None:
        expect = turn.expect
        if expect is None:
            edit = "write `expect: no_call`, or the calls that are right"
            return Expectation("no_call") if self._close(OpenPlace("expect", number), "no `expect`", edit) else None
        if expect.kind != "any_of":
            return self._alternative(expect, number, 0)
        known = self._right.alternatives.get(number, set())
        alternatives = tuple(
            self._alternative(each, number, index) for index, each in enumerate(expect.alternatives) if index in known
        )
        return replace(expect, alternatives=alternatives, extra=self._extra(expect, number, -1))

    def _alternative(self, expect: Expectation, turn: int, index: int) -> Expectation:
        extra = self._extra(expect, turn, index)
        if expect.kind == "any_call":
            place = OpenPlace("any_call", turn, index)
            if self._close(place, "`any_call`", "name the call that is right instead of `any_call`"):
                call = self._right.calls.get(ExpectedPlace(turn, index, 0))
                calls = (ExpectedCall(call.name, _literal_arguments(call)),) if call else ()
                return replace(expect, kind="calls", stages=(calls,), extra="forbid")
            return expect
        numbers = count()
        stages = tuple(
            tuple(self._call(each, ExpectedPlace(turn, index, next(numbers))) for each in stage)
            for stage in expect.stages
        )
        return replace(expect, stages=stages, extra=extra)

    def _extra(self, expect: Expectation, turn: int, index: int) -> Literal["forbid", "allow"]:
        if expect.extra != "allow":
            return expect.extra
        if expect.stages or expect.kind in ("no_call", "any_of"):
            written, edit = "`extra: allow`", "leave `extra: allow` out; list under `allow:` what may be called, too"
        else:
            written, edit = "`never` alone", "write beside `never` what is right: `calls: [...]`"
        return "forbid" if self._close(OpenPlace("extra", turn, index), written, edit) else expect.extra

    def _call(self, expected: ExpectedCall, at: ExpectedPlace) -> ExpectedCall:
        call = self._right.calls.get(at)
        if call is None:
            return expected
        if expected.arguments is None:
            edit = f"name the arguments of `{expected.tool}` that matter"
            if self._close(OpenPlace("arguments", *at), "`{$ignore: true}` for all arguments", edit):
                return replace(expected, arguments=_literal_arguments(call))
            return expected
        arguments: dict[str, Pattern] = {}
        for name, pattern in expected.arguments.items():
            value = call.arguments.get(name, _REMOVED)
            closed = self._pattern(pattern, value, OpenPlace("argument", *at, (name,)), name)
            if closed is not _REMOVED:
                arguments[name] = closed
        for name, value in call.arguments.items():
            if name not in expected.arguments and self._is_ruled(expected.tool, name):
                arguments[name] = _literal(value)
        is_open = expected.open
        if is_open:
            edit = "leave `args: open` out, or name the optional arguments that matter"
            is_open = not self._close(OpenPlace("args", *at), "`args: open`", edit)
        return replace(expected, arguments=arguments, open=is_open)

    def _is_ruled(self, tool: str, name: str) -> bool:
        """Whether a closed rule stood for what the case does not say of an argument."""
        return any(glob_matches(rule.path, f"{tool}.{name}") for rule in self._closed_rules)

    def _pattern(self, pattern: Pattern, value: object, place: OpenPlace, name: str) -> Pattern:
        """The pattern, closed where that is chosen; _REMOVED for one that stands for nothing."""
        if isinstance(pattern, Operator):
            return self._operator(pattern, value, place, name)
        if len(place.path) > _INNERMOST:
            return pattern
        if isinstance(pattern, Mapping):
            given = value if isinstance(value, Mapping) else {}
            inner = {
                key: self._pattern(each, given.get(key, _REMOVED), _inside(place, key), key)
                for key, each in pattern.items()
            }
            return {key: each for key, each in inner.items() if each is not _REMOVED}
        if is_list(pattern):
            return self._patterns(pattern, value, place, name)
        return pattern

    def _patterns(self, patterns: Sequence[Pattern], value: object, place: OpenPlace, name: str) -> list[Pattern]:
        given = list(value) if isinstance(value, list | tuple) else []
        given += [_REMOVED] * (len(patterns) - len(given))
        pairs = enumerate(zip(patterns, given, strict=False))
        return [self._pattern(each, item, _inside(place, index), name) for index, (each, item) in pairs]

    def _operator(self, operator: Operator, value: object, place: OpenPlace, name: str) -> Pattern:
        operand = operator.operand
        if operator.name in _NAMING or _is_moment(operator) or _is_plain_json(operator) or _names_number(operator):
            return operator
        if operator.name == "optional":
            inner = self._pattern(operand, value, place, name)
            return inner if inner is _REMOVED else replace(operator, operand=inner)
        if operator.name in ("unordered", "ordered") and is_list(operand):
            return replace(operator, operand=self._patterns(operand, value, place, name))
        if operator.name == "any" and is_list(operand):
            return self._choice(operator, operand, value, place, name)
        if (
            operator.name == "all"
            and is_list(operand)
            and all(isinstance(each, Operator) and each.name in _NAMING for each in operand)
        ):
            return operator
        word = f"`${operator.name}`"
        if not self._close(place, word, _edit_text(operator, value, name, place.part)):
            return operator
        return _closed(operator, value)

    def _choice(
        self, operator: Operator, alternatives: Sequence[Pattern], value: object, place: OpenPlace, name: str
    ) -> Pattern:
        """Each alternative that names a value stays; of what the others accept, the right answer alone."""
        closed = [
            self._pattern(each, value, _inside(place, f"${index}"), name) for index, each in enumerate(alternatives)
        ]
        if value is _REMOVED and _REMOVED in closed:
            return _REMOVED
        return replace(operator, operand=closed)


def _inside(place: OpenPlace, key: str | int) -> OpenPlace:
    return replace(place, path=(*place.path, key))


def _is_moment(operator: Operator) -> bool:
    return operator.name == "datetime" and not isinstance(operator.operand, Mapping)


def _names_number(operator: Operator) -> bool:
    """Whether it is `$approx` with a tolerance of at most half of its number: what is within is that number."""
    if operator.name != "approx" or not is_number(operator.operand):
        return False
    within = operator.options.get("within", 0)
    if is_number(within):
        return abs(within) <= abs(operator.operand) / 2
    return isinstance(within, str) and float(within.rstrip("% ")) <= _WIDEST_SHARE


def _is_plain_json(operator: Operator) -> bool:
    return operator.name == "json" and not operator.options and not isinstance(operator.operand, Operator)


def _closed(operator: Operator, value: object) -> Pattern:
    """The operator, and what names the value beside it: what is closed accepts nothing more than before.

    Where the right answer has no value, none may be given; an operator that needs one then accepts nothing.
    """
    if value is not _REMOVED:
        return Operator("all", [operator, _named_value(operator, value)])
    return _REMOVED if operator.name == "ignore" else Operator("all", [operator, Operator("not", operator)])


def _named_value(operator: Operator, value: object) -> Operator:
    if operator.name == "datetime":
        return Operator("datetime", value)  # type: ignore[arg-type]  # a text
    if isinstance(value, list) and operator.name in _OF_SETS | {"all"}:
        return Operator("unordered", [_literal(item) for item in value])
    return _literal(value)


def _edit_text(operator: Operator, value: object, name: str, part: str) -> str:
    word = f"`${operator.name}`"
    if value is _REMOVED:
        return f"leave `{name}` out of the case, so that it must not be given"
    if part == "answer":
        return f"say more of the answer than {word} does, or let a model decide with `$judge`"
    if operator.name == "approx":
        return "write a smaller tolerance behind `within`"
    if operator.name in UNSPECIFIC and not isinstance(value, int | float):
        return f"write the value of `{name}` that is right instead of {word}, or `$any` with all that are"
    plain = write_flow(mark_literal(value))  # type: ignore[arg-type]  # a plain value
    written = f"{{$unordered: {plain}}}" if isinstance(value, list) and operator.name in _OF_SETS | {"all"} else plain
    such_as = f", such as `{name}: {written}`" if len(written) <= _LONGEST_EDIT else ""
    return f"write the value that is right{such_as}, or `$any` with all that are, instead of {word}"


def _literal(value: object) -> Operator:
    return Operator("literal", value)  # type: ignore[arg-type]  # a plain value


def _literal_arguments(call: Call) -> dict[str, Pattern]:
    return {name: _literal(value) for name, value in call.arguments.items()}
