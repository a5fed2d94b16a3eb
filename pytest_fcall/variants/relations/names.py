"""Relations that give tools and parameters other names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall, MatchRule
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.schema.tool_names import other_names, with_other_names, words_of
from pytest_fcall.variants.case_parts import (
    all_tools,
    hidden_expectation,
    is_system,
    texts_of,
    with_calls,
    with_messages,
    with_operators,
    with_texts,
)

if TYPE_CHECKING:
    from pytest_fcall.core.case import Turn
    from pytest_fcall.core.conversation import ConversationSettings
    from pytest_fcall.core.values import Json, Message

_PLAIN: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions"}
)
"""Keys of parameters in which a name is at most a property, or required."""
_ARGUMENT = re.compile(r"(?P<call>\w+)\.args\.(?P<parameter>[^.\[]+)(?P<rest>.*)", re.DOTALL)
"""A reference of `$from` to an argument."""


def tool_names(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Give tools other names."""
    found = new_tool_names(case)
    return found if isinstance(found, Unfit) else found.case(case)


def parameter_names(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Give parameters other names."""
    found = new_parameter_names(case)
    return found if isinstance(found, Unfit) else found.case(case)


def new_tool_names(case: Case) -> Names | Unfit:
    """The new names of the tools that no message names."""
    if unfit := _unfitness(case):
        return unfit
    tools = all_tools(case)
    said, told = " ".join(_dialogue_texts(case)), " ".join(_system_texts(case))
    free = [name for name in tools if not _is_in(name, said) and (len(words_of(name)) > 1 or not _is_in(name, told))]
    if not free:
        return Unfit("its messages name its tools" if tools else "it has no tool")
    return Names(other_names(free, taken=tools))


def new_parameter_names(case: Case) -> Names | Unfit:
    """The new names of the parameters that no message names."""
    if unfit := _unfitness(case):
        return unfit
    said = " ".join((*_dialogue_texts(case), *_system_texts(case)))
    found: dict[str, Mapping[str, str]] = {}
    for name, tool in all_tools(case).items():
        free = [parameter for parameter in _plain_parameters(tool) if not _is_in(parameter, said)]
        if free:
            found[name] = other_names(free, "given", _plain_parameters(tool))
    return Names(parameters=found) if found else Unfit("its messages name its parameters, or it has none")


def _unfitness(case: Case) -> Unfit | None:
    if case.conversation is not None and case.conversation.environment:
        return Unfit("an environment carries out its calls by name")
    if case.earlier is not None:
        return Unfit("conversations before it have its tools, too")
    return hidden_expectation(case)


def _dialogue_texts(case: Case) -> Iterator[str]:
    """The texts of users, models and results of tools."""
    for turn in case.turns:
        for message in turn.messages:
            if not is_system(message):
                yield from texts_of(message.get("content"))


def _system_texts(case: Case) -> Iterator[str]:
    """The texts of system messages."""
    for turn in case.turns:
        for message in turn.messages:
            if is_system(message):
                yield from texts_of(message.get("content"))


def _is_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _plain_parameters(tool: Tool) -> list[str]:
    """The parameters of a tool whose schema says nothing else of them than what they are."""
    properties = tool.parameters.get("properties")
    return [*properties] if isinstance(properties, Mapping) and _PLAIN.issuperset(tool.parameters) else []


@dataclass(frozen=True, slots=True)
class Names:
    """The new names of some tools, and of some parameters of tools under their old names."""

    tools: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def tool(self, name: str) -> str:
        """The name of a tool."""
        return self.tools.get(name, name)

    def arguments(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of a tool of this old name, or its properties, in their order."""
        names = self.parameters.get(tool, {})
        return {names.get(name, name): value for name, value in arguments.items()}

    def call(self, call: Call) -> Call:
        """A call as the model makes it under the new names."""
        return replace(call, name=self.tool(call.name), arguments=self.arguments(call.name, call.arguments))

    def case(self, case: Case) -> Case:
        """The case under the new names."""
        tools = all_tools(case)
        named = dict(_named_calls(case))
        changed = with_messages(case, self._message)
        return replace(
            changed,
            turns=tuple(self._turn(turn, tools, named) for turn in changed.turns),
            tools=tuple(map(self.described, case.tools)),
            rules=case.rules._replace(
                match=tuple(new for rule in case.rules.match for new in self._rules(rule, tools)),
                never=tuple(new for each in case.rules.never for new in self._patterns(each, tools, named)),
            ),
            settings=self._settings(case.settings),
            conversation=self._conversation(case.conversation),
        )

    def described(self, tool: Tool) -> Tool:
        """A tool."""
        schema = dict(tool.parameters)
        if isinstance(properties := schema.get("properties"), Mapping):
            schema["properties"] = self.arguments(tool.name, properties)
        if isinstance(required := schema.get("required"), Sequence):
            names = self.parameters.get(tool.name, {})
            schema["required"] = [names.get(str(each), str(each)) for each in required]
        description = with_other_names(tool.description, {**self.tools, **self.parameters.get(tool.name, {})})
        return replace(tool, name=self.tool(tool.name), parameters=schema, description=description, declared=None)

    def _turn(self, turn: Turn, tools: Mapping[str, Tool], named: Mapping[str, str]) -> Turn:
        return replace(
            turn,
            expect=None if turn.expect is None else self._expectation(turn.expect, tools, named),
            answer=self._references(turn.answer, named),
            result=self._references(turn.result, named),
            tools=None if turn.tools is None else tuple(map(self.described, turn.tools)),
        )

    def _expectation(self, expect: Expectation, tools: Mapping[str, Tool], named: Mapping[str, str]) -> Expectation:
        def call(each: ExpectedCall) -> ExpectedCall:
            arguments = self._expected_arguments(each.tool, each.arguments, named)
            return replace(
                each, tool=self.tool(each.tool), arguments=arguments, result=self._references(each.result, named)
            )

        return with_calls(expect, call, lambda each: self._patterns(each, tools, named))

    def _patterns(
        self, pattern: CallPattern, tools: Mapping[str, Tool], named: Mapping[str, str]
    ) -> Sequence[CallPattern]:
        """The pattern for each offered tool that it matches; one that matches none stays as it is."""
        matched = [name for name in tools if glob_matches(pattern.tool, name)]
        return [
            CallPattern(self.tool(name), self._expected_arguments(name, pattern.arguments, named)) for name in matched
        ] or [pattern]

    def _expected_arguments(
        self, tool: str, arguments: Mapping[str, Pattern] | None, named: Mapping[str, str]
    ) -> Mapping[str, Pattern] | None:
        if arguments is None:
            return None
        return {name: self._references(value, named) for name, value in self.arguments(tool, arguments).items()}

    def _references(self, pattern: Pattern, named: Mapping[str, str]) -> Pattern:
        """The pattern with new names of parameters in references to arguments of earlier calls."""

        def renamed(operator: Operator) -> Operator:
            found = _ARGUMENT.fullmatch(str(operator.operand)) if operator.name == "from" else None
            if found is None:
                return operator
            names = self.parameters.get(named.get(found["call"], ""), {})
            parameter = names.get(found["parameter"], found["parameter"])
            return replace(operator, operand=f"{found['call']}.args.{parameter}{found['rest']}")

        return with_operators(pattern, renamed)

    def _rules(self, rule: MatchRule, tools: Mapping[str, Tool]) -> Iterator[MatchRule]:
        """The rule for each parameter that it may match."""
        for name, tool in tools.items():
            properties = tool.parameters.get("properties")
            for parameter in properties if isinstance(properties, Mapping) else ():
                (new,) = self.arguments(name, {parameter: None})
                for rest in residues(rule.path, f"{name}.{parameter}"):
                    yield replace(rule, path=f"{self.tool(name)}.{new}{rest}")

    def _message(self, message: Message) -> Message:
        """A message with new names in the calls of the model, and in what the developer says of tools."""
        changed = dict(message)
        if isinstance(calls := message.get("tool_calls"), Sequence):
            changed["tool_calls"] = [self._tool_call(call) for call in calls]
        if message.get("role") == "tool" and isinstance(name := message.get("name"), str):
            changed["name"] = self.tool(name)
        if is_system(message) and "content" in message:
            changed["content"] = with_texts(message["content"], lambda text: with_other_names(text, self.tools))
        return changed

    def _tool_call(self, call: Json) -> Json:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(call, Mapping) or not isinstance(function, Mapping):
            return call
        name, written = str(function.get("name")), function.get("arguments")
        try:
            arguments = json.loads(written) if isinstance(written, str) else None
        except ValueError:
            arguments = None
        if isinstance(arguments, dict) and name in self.parameters:
            written = json.dumps(self.arguments(name, arguments), ensure_ascii=False)
        return {**call, "function": {**function, "name": self.tool(name), "arguments": written}}

    def _settings(self, settings: Mapping[str, Json]) -> Mapping[str, Json]:
        choice = settings.get("tool_choice")
        function = choice.get("function") if isinstance(choice, Mapping) else None
        if isinstance(choice, Mapping) and isinstance(function, Mapping):
            named = {**function, "name": self.tool(str(function.get("name")))}
            return {**settings, "tool_choice": {**choice, "function": named}}
        return settings

    def _conversation(self, settings: ConversationSettings | None) -> ConversationSettings | None:
        if settings is None:
            return None
        return replace(settings, stubs={self.tool(name): value for name, value in settings.stubs.items()})


def residues(glob: str, start: str) -> list[str]:
    """The globs that match what may follow `start` in a text that `glob` matches."""
    states = {0}
    for letter in start:
        states = {after for state in states for after in _after(glob, state, letter)}
    # A star swallows what any later state could match behind the same star, so that the first of them says all.
    found = [glob[state:] for state in sorted(states)]
    return [each for place, each in enumerate(found) if not any(_covers(before, each) for before in found[:place])]


def _after(glob: str, state: int, letter: str) -> Iterator[int]:
    while state < len(glob) and glob[state] == "*":
        yield state
        state += 1
    if state < len(glob) and glob[state] == letter:
        yield state + 1


def _covers(glob: str, other: str) -> bool:
    return glob == other or (glob.startswith("*") and glob_matches(glob, other))


def _named_calls(case: Case) -> Iterator[tuple[str, str]]:
    """The names by which `$from` refers to calls, with their tools."""
    for turn in case.turns:
        for call in turn.expect.all_calls if turn.expect else ():
            if call.name:
                yield call.name, call.tool
