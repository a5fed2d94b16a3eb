"""Right answers to a case, made of what it expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import CallResult, NamedCall, NamedCalls
from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.references import resolved_call, resolved_pattern
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import ToolSchema
from pytest_fcall.strength.examples import ExampleSources, NoExample, OmittedArgument, Spot, argument_example, example
from pytest_fcall.strength.scripts import LAST_WORDS, UNKNOWN_RESULT, Script, ScriptedTurn, ScriptStep

_MOST_SCRIPTS: Final = 12
"""The most right answers to a case in which mistakes are made: each turn may have alternatives."""


class ExpectedPlace(NamedTuple):
    """An expected call of a case: its turn, the alternative of the turn, and its number through all stages."""

    turn: int
    alternative: int
    call: int


@dataclass(slots=True)
class RightAnswers:
    """Right answers to a case, as scripts, and what each expected call is in them."""

    scripts: list[Script] = field(default_factory=list)
    calls: dict[ExpectedPlace, Call] = field(default_factory=dict)
    alternatives: dict[int, set[int]] = field(default_factory=dict)
    """By turn, the alternatives of which a right answer is known."""
    texts: dict[int, str] = field(default_factory=dict)
    unmeasured_reason: str = ""
    """The reason why there is no script."""
    bounded: bool = False
    """Whether there are more right answers than scripts."""


def right_answers(case: Case, context: MatchContext, known: ExampleSources) -> RightAnswers:
    """The right answers to a case: one for each alternative of a turn, beside the first ones of the others."""
    maker = _Maker(case, context, known)
    try:
        maker.answers.scripts.append(maker.script({}))
    except NoExample as why:
        maker.answers.unmeasured_reason = str(why)
        return maker.answers
    for turn, scripted in enumerate(case.turns):
        chosen = min(maker.answers.alternatives.get(turn, {0}))
        for alternative in range(chosen + 1, len(_alternatives(scripted.expect))):
            maker.add({turn: alternative})
    maker.answers.bounded = len(maker.answers.scripts) > _MOST_SCRIPTS
    del maker.answers.scripts[_MOST_SCRIPTS:]
    return maker.answers


def made_call(tool: str, pattern: Mapping[str, Pattern] | None, context: MatchContext, known: ExampleSources) -> Call:
    """A call of a tool that its schema allows and that has what `pattern` says. Raises NoExample."""
    return Call(tool, _arguments(ExpectedCall(tool, pattern or {}, open=True), context, known))


def _alternatives(expect: Expectation | None) -> tuple[Expectation | None, ...]:
    return expect.alternatives if expect is not None and expect.kind == "any_of" else (expect,)


class _Maker:
    def __init__(self, case: Case, context: MatchContext, known: ExampleSources) -> None:
        self.answers = RightAnswers()
        self._case = case
        self._context = context
        self._known = known

    def add(self, chosen: Mapping[int, int]) -> None:
        """Add the script of these alternatives, where one can be made."""
        try:
            self.answers.scripts.append(self.script(chosen))
        except NoExample:
            return

    def script(self, chosen: Mapping[int, int]) -> Script:
        """The script with these alternatives; elsewhere the first that can be made. Raises NoExample."""
        named: NamedCalls = {}
        turns: list[ScriptedTurn] = []
        for number, turn in enumerate(self._case.turns):
            alternatives = _alternatives(turn.expect)
            tried = [chosen[number]] if number in chosen else range(len(alternatives))
            why = NoExample("no alternative is known")
            for alternative in tried:
                try:
                    steps, named = self._steps(alternatives[alternative], (number, alternative), named)
                except NoExample as none:
                    why = none
                    continue
                self.answers.alternatives.setdefault(number, set()).add(alternative)
                break
            else:
                raise why
            turns.append(ScriptedTurn(tuple(steps), self._text(number, turn.answer, named)))
        return tuple(turns)

    def _text(self, turn: int, answer: Pattern, named: NamedCalls) -> str:
        if answer is None:
            return LAST_WORDS
        made = example(resolved_pattern(answer, named), Spot(self._context, self._known))
        if not isinstance(made, str):
            raise NoExample("no text is known that `answer` accepts")
        self.answers.texts[turn] = made
        return made

    def _steps(
        self, expect: Expectation | None, at: tuple[int, int], named: NamedCalls
    ) -> tuple[list[ScriptStep], NamedCalls]:
        if expect is not None and expect.kind == "any_call":
            call = self._any_call()
            self.answers.calls[ExpectedPlace(*at, 0)] = call
            return [(call,)], named
        steps: list[ScriptStep] = []
        place = 0
        for stage in expect.stages if expect is not None else ():
            made: list[Call] = []
            after = dict(named)
            for expected in stage:
                resolved = resolved_call(expected, after if expect and expect.order == "strict" else named)
                call = Call(expected.tool, _arguments(resolved, self._context, self._known))
                self.answers.calls[ExpectedPlace(*at, place)] = call
                made += [call] * max(expected.times[0], 1)
                if expected.name:
                    after[expected.name] = NamedCall(call.arguments, self._result(expected))
                place += 1
            steps.append(tuple(made))
            named = after
        return steps, named

    def _any_call(self) -> Call:
        why = NoExample("no tool is offered")
        for tool in self._case.tools:
            try:
                return made_call(tool.name, None, self._context, self._known)
            except NoExample as none:
                why = none
        raise why

    def _result(self, expected: ExpectedCall) -> CallResult:
        """The result that a run gives to the call, as far as the case says."""
        settings, stub = self._case.conversation, expected.stub
        if stub is not None:
            return CallResult(stub.returns[-1] if stub.returns else None, error=stub.raises)
        if settings is not None and expected.tool in settings.stubs:
            return CallResult(settings.stubs[expected.tool])
        if settings is not None and settings.environment is not None:
            return CallResult(error="its environment is called in a run only")
        return UNKNOWN_RESULT


def _arguments(expected: ExpectedCall, context: MatchContext, known: ExampleSources) -> dict[str, Json]:
    schema = _schema(expected.tool, context)
    spot = Spot(context, known, expected.tool, schema)
    made: dict[str, Json] = {}
    for name, pattern in (expected.arguments or {}).items():
        value = _argument(pattern, spot.child(name))
        if not isinstance(value, OmittedArgument):
            made[name] = value
    for name in sorted(schema.required.difference(made) if schema else ()):
        if expected.arguments is None or expected.open or _has_rule(expected.tool, name, context):
            value = _argument(_rule_operator(expected.tool, name, context), spot.child(name))
            if not isinstance(value, OmittedArgument):
                made[name] = value
    return made


def _argument(pattern: Pattern, spot: Spot) -> Json | OmittedArgument:
    if isinstance(pattern, Operator) and pattern.name == "from":
        raise NoExample(f"`$from: {pattern.operand}` needs a result that only a run has")
    return argument_example(pattern, spot)


def _rule_operator(tool: str, name: str, context: MatchContext) -> Operator:
    rules = (rule.operator for rule in context.rules.match if glob_matches(rule.path, f"{tool}.{name}"))
    return next((operator for operator in rules if operator is not None), Operator("ignore", True))


def _has_rule(tool: str, name: str, context: MatchContext) -> bool:
    return any(rule.operator and glob_matches(rule.path, f"{tool}.{name}") for rule in context.rules.match)


def _schema(tool: str, context: MatchContext) -> ToolSchema | None:
    try:
        return context.schema(tool)
    except SchemaError:
        return None
