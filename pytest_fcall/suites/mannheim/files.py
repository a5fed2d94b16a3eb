"""The two files of the benchmark, question sets and function sets, their questions, and repairs of known faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, find_file, read_json, required_file, required_path

HOW_TO_GET_IT: Final = (
    "get the folder src/config, with question_sets.json and function_sets.json, of the Mannheim function calling "
    "benchmark (branch master), and name it, or a folder above it, with path: or --fc-suite-path"
)
_FOLDERS: Final = ("", "config", "src/config")

PUBLISHED_PARTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "music_single": ("MUSIC_Q_SINGLE_STEP_ONE_SHOT_V1", "MUSIC_FUNC_ONE_PARAM_SIMPLE_DESC_NO_EX_V01"),
        "music_single_complex": ("MUSIC_Q_SINGLE_STEP_ONE_SHOT_V1", "MUSIC_FUNC_ONE_PARAM_COMPLEX_DESC_NO_EX_V01"),
        "music_multi_param": (
            "MUSIC_Q_SINGLE_STEP_ONE_SHOT_MULTI_PARAM_V01",
            "MUSIC_FUNC_MULTI_PARAM_SIMPLE_DESC_NO_EX_V01",
        ),
        "music_sequential": ("MUSIC_Q_SEQ_MULTI_STEP_ONE_SHOT_V1", "MUSIC_FUNC_COMPLEX_DESC_NO_EX_V2"),
        "music_parallel": ("MUSIC_Q_PAR_MULTI_STEP_ONE_SHOT_V1", "MUSIC_FUNC_COMPLEX_DESC_NO_EX_V2"),
        "travel_single": ("TRAVEL_Q_SINGLE_STEP_ONE_SHOT_V01", "TRAVEL_FUNC_ONE_PARAM_SIMPLE_DESC_NO_EX_V01"),
        "travel_single_complex": ("TRAVEL_Q_SINGLE_STEP_ONE_SHOT_V01", "TRAVEL_FUNC_ONE_PARAM_COMPLEX_DESC_NO_EX_V01"),
        "travel_multi_param": (
            "TRAVEL_Q_SINGLE_STEP_ONE_SHOT_MULTI_PARAM_V01",
            "TRAVEL_FUNC_MULTI_PARAM_SIMPLE_DESC_NO_EX_V01",
        ),
        "travel_sequential": (
            "TRAVEL_Q_MULTI_CALL_SEQUENTIAL_V01",
            "TRAVEL_FUNC_MULTI_CALL_SEQUENTIAL_SIMPLE_DESC_NO_EX_V01",
        ),
        "travel_parallel": (
            "TRAVEL_Q_MULTI_CALL_PARALLEL_V01",
            "TRAVEL_FUNC_MULTI_CALL_PARALLEL_SIMPLE_DESC_NO_EX_V01",
        ),
    }
)
"""The question set and the function set of each published run."""
_SIMILARITY: Final = 0.94
"""The similarity above which one name of a function is a misspelling of the other: a letter or two of many differ."""
_TYPES: Final = ((bool, "boolean"), (int | float, "number"), (str, "string"))


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set of questions, with the functions offered for them."""

    name: str
    domain: str
    questions: Sequence[Json]
    functions: Sequence[Json]

    @property
    def in_any_order(self) -> bool:
        """Whether the calls of a right answer are independent of each other."""
        return self.name.endswith("parallel")


@dataclass(frozen=True, slots=True)
class Files:
    """The parts of the benchmark in a folder."""

    questions_path: Path
    parts: Mapping[str, QuestionSet]


def read_files(path: Path | None) -> Files:
    """Find and read both files. Raises ValueError or OSError for data that is missing or cannot be read."""
    folder = required_path(path, "mannheim", HOW_TO_GET_IT)
    questions_path = required_file(folder, "question_sets.json", _FOLDERS, HOW_TO_GET_IT)
    questions = _sets(questions_path, "question_sets", "questions")
    functions_path = required_file(folder, "function_sets.json", _FOLDERS, HOW_TO_GET_IT)
    functions = _sets(functions_path, "function_sets", "functions")
    parts = {part.name: part for part in _parts(questions, functions)}
    if not parts:
        known = f"{', '.join(functions):.500}"
        raise ValueError(f"{questions_path}: no set names `function_sets` of function_sets.json; available: {known}")
    return Files(questions_path, parts)


def find_folder(path: Path | None) -> Path | None:
    """Return the folder of the files; None without them."""
    found = None if path is None else find_file(path, "question_sets.json", _FOLDERS)
    return found.parent if found else None


def _sets(path: Path, key: str, items: str) -> Mapping[str, Mapping[str, Json]]:
    data = read_json(path)
    sets = data.get(key) if isinstance(data, Mapping) else None
    found = {
        str(each["id"]): each
        for each in (sets if isinstance(sets, list) else ())
        if isinstance(each, Mapping) and isinstance(each.get("id"), str) and isinstance(each.get(items), list)
    }
    if not found:
        raise ValueError(f"{path} must hold `{key}`, each with an `id` and a list of `{items}`")
    return found


def _parts(
    questions: Mapping[str, Mapping[str, Json]], functions: Mapping[str, Mapping[str, Json]]
) -> Iterator[QuestionSet]:
    """The published parts that exist, then the user's own question sets with the function sets that they name."""
    for name, (question_set, function_set) in PUBLISHED_PARTS.items():
        if question_set in questions and function_set in functions:
            yield _part(name, questions[question_set], functions[function_set])
    published = {question_set for question_set, _ in PUBLISHED_PARTS.values()}
    for id_, own in questions.items():
        if id_ in published:
            continue
        named = own.get("function_sets")
        known = [each for each in (named if isinstance(named, list) else ()) if isinstance(each, str)]
        for number, each in enumerate((each for each in known if each in functions), 1):
            suffix = f"_{number}" if number > 1 else ""
            yield _part(f"{id_.lower()}{suffix}", own, functions[each])


def _part(name: str, question_set: Mapping[str, Json], function_set: Mapping[str, Json]) -> QuestionSet:
    questions, functions = question_set["questions"], function_set["functions"]
    return QuestionSet(
        name,
        str(question_set.get("domain", "")).lower(),
        questions if isinstance(questions, list) else [],
        functions if isinstance(functions, list) else [],
    )


@dataclass(frozen=True, slots=True)
class MannheimQuestion:
    """One row of a question set, before repairs."""

    id: str
    category: str
    text: str
    paths: Sequence[Sequence[Call]]
    """The alternatives, each a list of calls."""
    answer: Mapping[str, Json]
    ordered: frozenset[str]
    """The keys of the answer whose lists are ordered."""


def parse_question(row: Json) -> MannheimQuestion:
    """Parse a row. Raises BrokenRow."""
    match row:
        case {
            "id": str(id_),
            "question": str(text),
            "target": {
                "solution_paths": [_, *_] as paths,
                "expected_answer": {"answer": Mapping() as answer, **options},
            },
            **others,
        }:
            ordered = options.get("ordered_items")
            keys = frozenset(map(str, ordered if isinstance(ordered, list) else ()))
            category = others.get("category")
            named = category if isinstance(category, str) and category.strip() else "other"
            return MannheimQuestion(
                _printable_id(id_), named, text, [list(_path_calls(path)) for path in paths], dict(answer), keys
            )
    raise BrokenRow(
        "missing `id`, `question`, or a `target` with `solution_paths` and `expected_answer`, an object with `answer`"
    )


def _printable_id(text: str) -> str:
    if not text.strip() or not text.isprintable() or "::" in text:
        raise BrokenRow("`id` is empty or has unprintable characters")
    return text.strip()


def _path_calls(path: Json) -> Iterator[Call]:
    match path:
        case {"functions": list(names), "parameters": list(parameters)} if len(names) == len(parameters):
            for name, given in zip(names, parameters, strict=True):
                if not isinstance(name, str) or not name.strip() or not isinstance(given, Mapping):
                    raise BrokenRow("in a path, functions must be strings, and parameters objects")
                yield Call(name, {str(key): value for key, value in given.items()})
            return
    raise BrokenRow("a path needs as many `functions` as `parameters`")


@dataclass(slots=True)
class Repairs:
    """Repairs the right calls of one part, and logs the repairs."""

    tools: dict[str, Tool]
    """The offered functions, and those that right calls need but the set does not offer."""
    log: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, offered: Sequence[Tool]) -> Repairs:
        """Start with the functions of a part. Of two functions with one name, the first is offered."""
        tools: dict[str, Tool] = {}
        repairs = cls(tools)
        for tool in offered:
            name = tool.name.strip()
            if name in tools:
                repairs.log.append(f"the function `{name}` is offered once, not twice")
            tools.setdefault(name, replace(tool, name=name))
        return repairs

    def repaired(self, question: str, call: Call) -> tuple[Call, tuple[str, ...]]:
        """Return the repaired call, and the required arguments for which any value is right."""
        name = self._function(question, call)
        tool = self.tools[name]
        arguments = dict(self._arguments(question, tool, call.arguments))
        needed = tool.parameters.get("required")
        named = [each for each in (needed if isinstance(needed, list) else ()) if isinstance(each, str)]
        missing = tuple(each for each in named if each not in arguments)
        for each in missing:
            self.log.append(f"{question}: `{name}` needs `{each}`, for which any value is right")
        return Call(name, arguments), missing

    def _function(self, question: str, call: Call) -> str:
        name = call.name.strip()
        if name not in self.tools:
            numbered = [known for known in self.tools if known.rpartition("_")[0] == name and known[-1].isdigit()]
            near = numbered or get_close_matches(name, self.tools, 1, _SIMILARITY)
            if near and _fits(self.tools[near[0]], call.arguments):
                name = near[0]
            else:
                self.tools[name] = _described_tool(name, call.arguments)
                self.log.append(
                    f"{question}: the function `{name}` is offered; a right answer calls it, but the set lacks it"
                )
        if name != call.name:
            self.log.append(f"{question}: the function `{call.name}` is called `{name}`")
        return name

    def _arguments(self, question: str, tool: Tool, given: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        properties = tool.parameters.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        free = [name for name in known if name not in given]
        for name, value in given.items():
            parameter = name
            if name not in known and free:
                parameter = (get_close_matches(name, free, 1, 0.8) or free)[0]
                free.remove(parameter)
                self.log.append(f"{question}: the argument `{name}` of `{tool.name}` is called `{parameter}`")
            schema = known.get(parameter)
            typed = _typed(value, schema.get("type") if isinstance(schema, Mapping) else None)
            if typed is not value:
                self.log.append(f"{question}: `{parameter}` of `{tool.name}` is {typed!r}, not {value!r}")
            yield parameter, typed


def _fits(tool: Tool, arguments: Mapping[str, Json]) -> bool:
    """Whether a function has enough parameters to be the misspelled one."""
    properties = tool.parameters.get("properties")
    return isinstance(properties, Mapping) and len(properties) >= len(arguments)


def _described_tool(name: str, arguments: Mapping[str, Json]) -> Tool:
    """A tool for a function without a description, made from its name and arguments."""
    properties: dict[str, Json] = {each: {"type": _type(value)} for each, value in arguments.items()}
    parameters: dict[str, Json] = {"type": "object", "properties": properties, "required": [*arguments]}
    return Tool(name, name.replace("_", " ").capitalize(), parameters)


def _type(value: Json) -> str:
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "array")


def _typed(value: Json, wanted: Json) -> Json:
    """The value with its type repaired: a number written as text, or text written as a number."""
    if wanted == "number" and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    if wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
