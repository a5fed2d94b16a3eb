"""API-BLEND as a suite, with a part for every data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case, FaultyCase, Turn
from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.extension import About, Figure, Measured, Part
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call, call_source, calls_source
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.api_blend.data_sets import (
    DATA_SETS,
    DOMAINS,
    NAMELESS_ARGUMENT,
    CallNotation,
    DataSet,
    Sample,
    SetPart,
    UnknownValue,
    is_in_domain,
    set_of_part,
)
from pytest_fcall.suites.api_blend.files import HOW_TO_GET_IT, Entry, SetFiles, find_set_files
from pytest_fcall.suites.json_files import broken_case, required_path

_SCORES: Final = ("api_f1", "parameter_f1", "lcs_f1")
_MOST_SAMPLED: Final = 100_000
# As section 4.2 of the publication prints it (arXiv 2402.15491, CC BY 4.0).
_TASK: Final = (
    "Given the APIs and Slots below, sequence them in the order in which they have to be called to answer the "
    "following query."
)
_FORMS: Final[Mapping[CallNotation, str]] = MappingProxyType(
    {
        "json": '[{"API": "name", "Parameters": {"slot": ["value"]}}]',
        "topv2": 'NAME(SLOT = "value"), NAME(SLOT = "value")',
        "sgd": "Name(slot = value ; slot = value) [SEP] Name(slot = value)",
        "toolqa": "Name[slot=value, slot=value], Name[slot=value]",
        "python": "[name(slot='value'), name(slot='value')]",
        "lines": "name(slot=value), a call on each line",
    }
)


class ApiBlendSuite:
    """The questions of each data set in a prompt, without demonstrations, or with three.

    They are the first three for `SET_3shot`, and a sample for `SET_3shot@SEED`.
    """

    def about(self, path: Path | None) -> About:
        """Return the parts and the origin of the data."""
        found = {name: files for name, each in DATA_SETS.items() if (files := find_set_files(each, path))}
        parts = [Part(name, _count(found[name]) if name in found else None) for name in DATA_SETS]
        return About(
            title="API-BLEND",
            licence="licences of its data sets",
            origin=HOW_TO_GET_IT,
            place=str(path) if found else None,
            parts=tuple(parts),
        )

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases of `SET`, `SET_3shot` or `SET_3shot@SEED`, or of all sets. The prompt holds the functions."""
        for name, files in _wanted(part, path):
            yield from _Reader(name, files).cases()

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for case files: the question alone, with the functions as tools."""
        for name, files in _wanted(part, path):
            reader = _Reader(name, files)
            for entry, case in zip(reader.entries, reader.cases(), strict=True):
                yield reader.native_case(entry, case)

    def scores(self, case: Case) -> Mapping[str, Sequence[str]]:
        """Return the F1 scores of functions, arguments and their order, or of functions for a set without arguments."""
        data_set = DATA_SETS.get(set_of_part(case.category).name)
        return {case.category: data_set.scores} if data_set else {}

    def averages(self, measured: Sequence[Measured]) -> Sequence[Figure]:
        """Return the averages of scores over all sets, weighted by their sizes."""
        return [figure for score in _SCORES for figure in _averages(score, measured)]

    def figure_names(self) -> Sequence[str]:
        """Return the names of the averages."""
        return [f"{kind}_{score}" for score in _SCORES for kind in ("weighted", "in_domain", "out_of_domain")]


def _averages(score: str, measured: Sequence[Measured]) -> Iterator[Figure]:
    """The average over all sets, and over those in and out of the publication's domain."""
    own = [each for each in measured if each.score == score and set_of_part(each.tag).name in DATA_SETS]
    if own:
        yield Figure(f"weighted_{score}", _average(own))
        for domain, inside in DOMAINS:
            there = [each for each in own if is_in_domain(set_of_part(each.tag).name) is inside]
            yield Figure(f"{domain.replace(' ', '_')}_{score}", _average(there))


def _average(measured: Sequence[Measured]) -> float | None:
    size = sum(each.cases for each in measured)
    return sum(each.cases * (each.value or 0) for each in measured) / size if size else None


def _wanted(part: str, path: Path | None) -> Iterator[tuple[str, SetFiles]]:
    folder = required_path(path, "api_blend", HOW_TO_GET_IT)
    name = set_of_part(part).name
    if part and name not in DATA_SETS:
        raise ValueError(f"no data set {part!r} in API-BLEND; available: {', '.join(DATA_SETS)}")
    wanted = [each for each in DATA_SETS.values() if name in ("", each.name)]
    found = [files for each in wanted if (files := find_set_files(each, folder))]
    if not found:
        raise ValueError(f"no data set {name or 'of API-BLEND'} in {folder}: {HOW_TO_GET_IT}")
    for files in found:
        yield part or files.data_set.name, files


class _Reader:
    """Reads one data set. Its functions are collected from all samples."""

    def __init__(self, part: str, files: SetFiles) -> None:
        self._part = part
        self._set: DataSet = files.data_set
        self.entries = list(files.entries())
        self._tools = _tools([entry.sample for entry in self.entries if entry.sample], names_only=self._set.names_only)
        self._all = _Offered([*self._tools.values()], names_only=self._set.names_only)
        self._shots = set_of_part(part).shots
        self._examples = list(_examples(files, set_of_part(part)))

    def cases(self) -> Iterator[Case | FaultyCase]:
        """Yield all cases."""
        for number, entry in enumerate(self.entries, 1):
            yield self._case(f"{self._part}_{number}", entry)

    def native_case(self, entry: Entry, case: Case | FaultyCase) -> Case | FaultyCase:
        """Return a case with its functions as tools."""
        if isinstance(case, FaultyCase) or entry.sample is None:
            return case
        turn = replace(case.turns[0], messages=({"role": "user", "content": entry.sample.text},))
        return replace(case, turns=(turn,), tools_in_messages=False, decoder=None)

    def _case(self, id_: str, entry: Entry) -> Case | FaultyCase:
        sample = entry.sample
        if sample is None:
            return broken_case(id_, entry.location, entry.fault)
        offered = self._all if not sample.offered else self._offered(sample)
        examples = [each for each in self._examples if each.text != sample.text][: self._shots]
        prompt = _instruction_text(self._set.notation, offered.names, offered.slots, examples, sample.text)
        return Case(
            id=id_,
            location=entry.location,
            turns=(Turn(({"role": "user", "content": prompt},), self._expectation(sample)),),
            tools=offered.tools,
            category=self._part,
            tags=("api_blend",),
            proposed_settings={"temperature": 0},
            decoder=self._set.decoder,
            tools_in_messages=True,
        )

    def _offered(self, sample: Sample) -> _Offered:
        """The functions that a sample offers, and those of its right answers."""
        names = dict.fromkeys((*sample.offered, *(call.name for call in _calls(sample))))
        return _Offered([self._tools[name] for name in names], names_only=self._set.names_only)

    def _expectation(self, sample: Sample) -> Expectation:
        paths = [self._path(path) for path in sample.paths]
        return paths[0] if len(paths) == 1 else Expectation("any_of", alternatives=tuple(paths))

    def _path(self, calls: Sequence[Call]) -> Expectation:
        expected = tuple(
            ExpectedCall(call.name, None if self._set.names_only else _patterns(call.arguments)) for call in calls
        )
        return Expectation(stages=(expected,), order="strict", parallel="free") if expected else Expectation("no_call")


def _examples(files: SetFiles, part: SetPart) -> Iterator[Sample]:
    """Samples for demonstrations, one more than are needed: none is the question itself."""
    needed = part.shots + 1 if part.shots else 0
    if part.seed is None:
        yield from islice(files.examples(), needed)
        return
    for each in (replace(files, tests=()), replace(files, training=())):  # questions only where training has too few
        samples = islice(each.examples(), _MOST_SAMPLED)
        drawn = sorted(samples, key=lambda sample: sha256(f"{part.seed}:{sample.text}".encode()).digest())[:needed]
        yield from drawn
        needed -= len(drawn)


class _Offered:
    """Functions, their names, and their slots in one list.

    All are sorted, since the data has them in the order of right answers.
    """

    def __init__(self, tools: Sequence[Tool], *, names_only: bool) -> None:
        self.tools = tuple(sorted(tools, key=lambda tool: tool.name))
        self.names = [tool.name for tool in self.tools]
        self.slots = [] if names_only else sorted({slot for tool in tools for slot in _slots(tool)})


def _patterns(arguments: Mapping[str, Json]) -> dict[str, Pattern]:
    return {
        name: Operator("ignore", True) if isinstance(value, UnknownValue) else value
        for name, value in arguments.items()
    }


def _tools(samples: Sequence[Sample], *, names_only: bool) -> dict[str, Tool]:
    """The functions of a set, with the arguments in right calls; nothing else is known of most functions."""
    found: dict[str, dict[str, Json]] = {}
    for sample in samples:
        for name in sample.offered:
            found.setdefault(name, {})
        for call in _calls(sample):
            found.setdefault(call.name, {}).update({name: {} for name in call.arguments})
    extra: dict[str, Json] = {"additionalProperties": True} if names_only else {}
    return {
        name: Tool(name, parameters={"type": "object", "properties": slots, **extra}) for name, slots in found.items()
    }


def _calls(sample: Sample) -> list[Call]:
    return [call for path in sample.paths for call in path]


def _slots(tool: Tool) -> Sequence[str]:
    properties = tool.parameters.get("properties")
    return [*properties] if isinstance(properties, Mapping) else []


def _count(files: SetFiles) -> int:
    return sum(1 for _ in files.entries())


def _instruction_text(
    notation: CallNotation, apis: Sequence[str], slots: Sequence[str], examples: Sequence[Sample], question: str
) -> str:
    """Return a prompt: the APIs, the slots in one list, demonstrations, and the question.

    Without demonstrations it says the form of answers: the publication asks so only models that were trained on it.
    """
    lines = [_TASK, f"Possible APIs: {', '.join(apis)}"]
    if slots:
        lines.append(f"Possible Slots: {', '.join(slots)}")
    if examples:
        shown = [f"Query: {each.text}\nAnswer: {calls_text(notation, each.paths[0])}" for each in examples]
        lines.append("\n".join(("Here are some examples:", *shown)))
    else:
        lines.append(f"Answer with nothing else, in this form: {_FORMS[notation]}")
    return "\n".join((*lines, f"Query: {question}", "Answer:"))


def calls_text(notation: CallNotation, calls: Sequence[Call]) -> str:
    """Return calls in a notation."""
    return _WRITERS[notation](calls)


def _json(calls: Sequence[Call]) -> str:
    return json.dumps([{"API": call.name, "Parameters": dict(call.arguments)} for call in calls], ensure_ascii=False)


def _topv2(calls: Sequence[Call]) -> str:
    return ", ".join(f"{call.name}({', '.join(_slot(*pair) for pair in call.arguments.items())})" for call in calls)


def _slot(name: str, value: Json) -> str:
    return name if value is None else f"{name} = {json.dumps(str(value), ensure_ascii=False)}"


def _sgd(calls: Sequence[Call]) -> str:
    slots = (" ; ".join(map(_sgd_slot, call.arguments, call.arguments.values())) for call in calls)
    return " [SEP] ".join(f"{call.name}({inside})" for call, inside in zip(calls, slots, strict=True))


def _sgd_slot(name: str, value: Json) -> str:
    return name if value is None else f"{name} = {value}"


def _toolqa(calls: Sequence[Call]) -> str:
    slots = (", ".join(map(_toolqa_slot, call.arguments, call.arguments.values())) for call in calls)
    return ", ".join(f"{call.name}[{inside}]" for call, inside in zip(calls, slots, strict=True))


def _toolqa_slot(name: str, value: Json) -> str:
    return str(value) if name == NAMELESS_ARGUMENT else f"{name}={value}"


def _lines(calls: Sequence[Call]) -> str:
    return "\n".join(map(call_source, calls))


_WRITERS: Final[Mapping[CallNotation, Callable[[Sequence[Call]], str]]] = MappingProxyType(
    {"json": _json, "topv2": _topv2, "sgd": _sgd, "toolqa": _toolqa, "python": calls_source, "lines": _lines}
)
