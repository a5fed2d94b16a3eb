"""The prompts, ours and the published one, with documents that a retriever found, and such pairs for training."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json, Message
from pytest_fcall.retrieval import OkapiBm25, Oracle, Retriever
from pytest_fcall.suites.apibench.apis import ApiEntry, parse_api
from pytest_fcall.suites.apibench.files import HOW_TO_GET_IT, REFERENCE, Hub, HubFiles, hub_files, training_file
from pytest_fcall.suites.json_files import BrokenRow, FileRow, find_file, read_rows
from pytest_fcall.suites.original_code import parse_module

FindDocument: TypeAlias = Callable[[str, ApiEntry], ApiEntry | None]
"""Returns the document for a question and its right API."""
SETTINGS: Final = ("bm25", "gpt_index", "oracle")
"""The retrievers of the paper."""
_FORM: Final = """
Call an API of {program} in one or two lines of Python. Answer in this form, and say it once:
<<<domain>>>: what the API is for, <<<api_call>>>: the call, in one line, <<<api_provider>>>: the framework, \
<<<explanation>>>: the steps, <<<code>>>: the program
The domain is one of: {domains}."""
SCRIPT: Final = "gorilla/eval/get_llm_responses.py"
"""The script that asked models for the paper, in Gorilla's repository."""
_FOLDERS: Final = ("", "gorilla/eval", "eval", "..")
_FUNCTION: Final = "encode_question"
_NAMES: Mapping[str, str] = MappingProxyType(
    {"torchhub": "torchhub", "tensorflowhub": "tensorhub", "huggingface": "huggingface"}
)
"""The script's names of the hubs."""
_LONGEST: Final = 10_000_000
"""Characters of a prompt; documents may be long."""
_Value: TypeAlias = "str | Message | list[Message]"
_PAIR: Final = re.compile(
    r"(?P<before>\s*(?:###\s*Instruction:|\{'Instruction':)\s*)(?P<question>.*?)"
    r"(?P<answer>(?:\s*###\s*Output:|,\s*'Output':).*)",
    re.DOTALL,
)
"""Both forms of the published files: with headings, and as a dict."""


def answer_form(hub: Hub, apis: Sequence[ApiEntry]) -> str:
    """Return the instruction on the form of answers for a hub."""
    return _FORM.format(program=hub.program, domains=", ".join(dict.fromkeys(api.domain for api in apis)))


def question_messages(question: str, form: str) -> tuple[Message, ...]:
    """Return the messages of a question, which may include a document."""
    return (
        {"role": "system", "content": "You write calls of APIs that do what is asked for."},
        {"role": "user", "content": question + form},
    )


def with_document(question: str, document: ApiEntry | None) -> str:
    """Return the question with the document of an API, in the form of the paper's retrievers."""
    return question if document is None else f"{question} \n {REFERENCE} {dict(document.document)}"


def hub_and_setting(part: str) -> tuple[str, str]:
    """Return the hub and the retriever of a part; the retriever is empty for questions without documents."""
    setting = next((each for each in SETTINGS if part.endswith(f"_{each}")), "")
    return part.removesuffix(f"_{setting}") if setting else part, setting


def document_finder(setting: str, files: HubFiles) -> FindDocument:
    """Return the retriever of a setting; without a setting, no document is found. Raises ValueError, OSError."""
    if not setting:
        return lambda _, __: None
    apis = files.apis
    if setting == "oracle":
        return lambda question, right: apis[_oracle_retriever(apis, right).top(question, 1)[0]] if apis else None
    if setting == "bm25":
        retriever = bm25_retriever(apis)
        return lambda question, _: apis[retriever.top(question, 1)[0]] if apis else None
    raise ValueError(
        f"no questions of {files.hub.name} with documents by embeddings: {HOW_TO_GET_IT}; "
        "or write them with pytest_fcall.suites.apibench.embedded.write_questions"
    )


def bm25_retriever(apis: Sequence[ApiEntry]) -> Retriever:
    """Return the paper's BM25 retriever: documents are Python dicts as text, split into words at single spaces."""
    return OkapiBm25([str(dict(api.document)) for api in apis], lambda text: text.split(" "))


def _oracle_retriever(apis: Sequence[ApiEntry], right: ApiEntry) -> Retriever:
    """Return a retriever that finds the right API, if the data base has it."""
    return Oracle([index for index, api in enumerate(apis) if api.call == right.call][:1], len(apis))


class PublishedPrompt:
    """The messages in which the paper asked a question. Raises ValueError for a script that cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = [
            each for each in parse_module(path).body if isinstance(each, ast.FunctionDef) and each.name == _FUNCTION
        ]
        if not found:
            raise ValueError(f"{path} is not Gorilla's script: it has no function {_FUNCTION}")
        self._statements: Sequence[ast.stmt] = found[0].body

    def messages(self, question: str, hub: str) -> tuple[Message, ...]:
        """Return the messages of a question, which may include a document. Raises ValueError."""
        script = _Script({"question": question, "api_name": _NAMES[hub]})
        try:
            script.run(self._statements)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self._path}: {_FUNCTION} is not as it was published: {error}") from None
        return tuple(script.messages)


def published_prompt(hub: str, folder: Path) -> PublishedPrompt | None:
    """Return the prompt of a hub; None without the script, and for a hub that is not Gorilla's. Raises ValueError."""
    path = find_file(folder, Path(SCRIPT).name, _FOLDERS) if hub in _NAMES else None
    return PublishedPrompt(path) if path else None


class _Script:
    """Carries out assignments of texts, choices between them, and `prompts.append`. Anything else is a TypeError."""

    def __init__(self, values: dict[str, _Value]) -> None:
        self._values = values
        self.messages: list[Message] = []

    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Carry out some statements."""
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._values[name] = self._value(value)
                case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                    self.run(statement.body if self._value(left) == self._value(right) else statement.orelse)
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[ast.Dict() as message])):
                    self.messages.append(self._message(message))
                case ast.Expr(value=ast.Constant()) | ast.Return():
                    pass
                case _:
                    raise TypeError(f"line {statement.lineno}")

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Name(id=name):
                return self._values[name]
            case ast.List(elts=[]):
                return []
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = self._text(left), self._text(right)
                if sum(map(len, parts)) > _LONGEST:  # a few lines could double a text for ever
                    raise TypeError(f"line {node.lineno}")
                return "".join(parts)
            case _:
                raise TypeError(f"line {node.lineno}")

    def _text(self, node: ast.expr) -> str:
        value = self._value(node)
        if not isinstance(value, str):
            raise TypeError(f"line {node.lineno}")
        return value

    def _message(self, node: ast.Dict) -> Message:
        return {self._text(key): self._text(value) for key, value in zip(node.keys, node.values, strict=True) if key}


def training_pairs(part: str, folder: Path) -> Iterator[FileRow]:
    """Yield the pairs of `HUB` or `HUB_SETTING`, as rows of the file for training; a row that is none has a fault.

    Questions of the evaluation are never among them. Raises ValueError or OSError.
    """
    hub, setting = hub_and_setting(part)
    files = hub_files(hub, folder)
    path = training_file(files.hub, folder)
    if path is None:
        raise ValueError(f"no questions of {hub} for training in {folder}: {HOW_TO_GET_IT}")
    find = document_finder(setting, files)
    for row in read_rows(path):
        try:
            yield FileRow(row.location, {**row.record, "code": _code(row.record, find)})
        except BrokenRow as error:
            yield FileRow(row.location, {}, str(error))


def _code(row: Mapping[str, Json], find: FindDocument) -> str:
    """The instruction with a document, and the answer."""
    code, document = row.get("code"), row.get("api_data")
    found = _PAIR.fullmatch(code) if isinstance(code, str) else None
    if found is None:
        raise BrokenRow("`code` must be a text with an instruction and an output")
    right = parse_api(document if isinstance(document, Mapping) else {})
    question = found["question"]
    return f"{found['before']}{with_document(question, find(question, right))}{found['answer']}"
