"""Prompts of local models: by chat template, by the model's own format, or as plain text. They can be written without
loading the weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from pytest_fcall.backends.local.aliases import OWN_PROMPTS, TEMPLATE, LocalModel, find_model
from pytest_fcall.backends.local.chat_template import (
    ChatTemplate,
    Tokenizer,
    function_spec,
    message_text,
    read_template,
)
from pytest_fcall.backends.local.libraries import import_library
from pytest_fcall.backends.local.weights import Weights, find_weights
from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, STYLES, prompted
from pytest_fcall.core import Json, ModelUnavailable, Request, Tool

_SYSTEM = ("system", "developer")

# The words that the model was trained on, its spaces included.
_GORILLA = (
    "You are an AI programming assistant, utilizing the Gorilla LLM model, developed by Gorilla LLM, and you only "
    "answer questions related to computer science. For politically sensitive questions, security and privacy issues, "
    "and other non-computer science questions, you will refuse to answer."
)
_SMOLLM2 = """\
You call functions. Answer with a JSON list of calls, each with a name and arguments. Answer [] if no function fits.
Functions:
"""
_EXAMPLES: Sequence[tuple[str, Sequence[tuple[str, Mapping[str, Json]]]]] = (
    ("Feed the cat and the dog.", [("feed", {"animal": "cat"}), ("feed", {"animal": "dog"})]),
    ("Open the doors 3 and 8.", [("open_door", {"number": 3}), ("open_door", {"number": 8})]),
    ("Thank you, goodbye!", []),
    ("Open the door 12.", [("open_door", {"number": 12})]),
    ("Who was Mozart?", []),
    ("Paint the wall red.", [("paint", {"thing": "wall", "color": "red"})]),
    ("Feed the horse.", [("feed", {"animal": "horse"})]),
)


def gorilla_prompt(request: Request) -> str:
    """Gorilla OpenFunctions v2's: the tools as JSON before the first question, a case's system prompt before both."""
    system, said = _turns(request, "python")
    told = f"<<function>>{json.dumps(list(map(function_spec, request.tools)))}\n<<question>>" if request.tools else None
    lines = ["\n".join([_GORILLA, *system]) + "\n"]
    for role, text in said:
        if role == "assistant":
            lines.append(f"### Response: {text}\n<|EOT|>\n")
        else:
            lines.append(f"### Instruction: {told or '<<question>> '}{text}\n")
            told = told and "<<question>>"
    return "".join(lines) + "### Response: "


def smollm2_prompt(request: Request) -> str:
    """SmolLM2's: ChatML, a line for each tool, and worked examples of the answer as if given before."""
    system, said = _turns(request, "json")
    if request.tools:
        system = [*system, _SMOLLM2 + "\n".join(map(_line, request.tools))]
        said = [*_examples(), *said]
    turns = [("system", "\n".join(system)), *said] if system else said
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def plain_prompt(request: Request) -> str:
    """Who says what, for a model that has learnt no form of conversation. Tools are not told."""
    said = ((str(message.get("role")), message_text(message)) for message in request.messages)
    return "".join(f"{role}: {text}\n" for role, text in said) + "assistant:"


PROMPT_WRITERS: Final[Mapping[str, Callable[[Request], str]]] = MappingProxyType(
    {"gorilla": gorilla_prompt, "smollm2": smollm2_prompt}
)


def _turns(request: Request, style: str) -> tuple[list[str], list[tuple[str, str]]]:
    """What the system says, and the rest by role: earlier calls in the words of `style`, their results by the user."""
    messages, _ = prompted(replace(request, tools=()), style)
    turns = [(str(message.get("role")), message_text(message)) for message in messages]
    return [text for role, text in turns if role in _SYSTEM], [turn for turn in turns if turn[0] not in _SYSTEM]


def _line(tool: Tool) -> str:
    """A tool in brief. Types are left to the grammar."""
    properties = tool.parameters.get("properties")
    return f"{tool.name}({', '.join(properties if isinstance(properties, Mapping) else ())}): {tool.description}"


def _examples() -> Iterator[tuple[str, str]]:
    for question, calls in _EXAMPLES:
        yield "user", question
        yield "assistant", json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


_DATE = "the chat template tells the date: that of the case's `now`, else 26 July 2024"


class ModelPrompts:
    """Writes the prompts of one model.

    `decoder` reads the answers to requests that have tools. `notes` says what a person may not expect, a line each.
    The texts are whole: no special tokens are to be put before them. `template` stands for the tokenizer's own. Only a
    prompt that a model has to itself is written without a tokenizer; else a ValueError is raised.
    """

    def __init__(self, chosen: LocalModel, tokenizer: Tokenizer | None = None, template: str | None = None) -> None:
        self.decoder = chosen.decoder
        self.notes: tuple[str, ...] = ()
        if template is None and chosen.prompt in PROMPT_WRITERS:
            self._write = _with_start_token(
                PROMPT_WRITERS[chosen.prompt], tokenizer if chosen.prompt == "gorilla" else None
            )
        elif tokenizer is None:
            raise ValueError(f"the prompt {chosen.prompt!r} is written by a tokenizer")
        else:
            self._write = self._by_template(chosen, tokenizer, template)

    def text(self, request: Request) -> str:
        """The prompt. Raises CaseRefused, in words, for a request that cannot be told."""
        return self._write(request)

    def _by_template(self, chosen: LocalModel, tokenizer: Tokenizer, template: str | None) -> Callable[[Request], str]:
        if template is None and tokenizer.chat_template is None:
            self.notes = (
                "there is no chat template: the conversation is told as plain text, and tools in our own words",
            )
            return self._in_words(chosen, _with_start_token(plain_prompt, tokenizer))
        chat = ChatTemplate(tokenizer, template)
        self.notes = (_DATE,) if chat.tells_date else ()
        if chosen.prompt in STYLES:
            return self._in_words(chosen, chat.text)
        if chat.tools == "nowhere":
            self.notes += ("the chat template drops tools; they are told in our own words",)
            return self._in_words(chosen, chat.text)
        return chat.text

    def _in_words(self, chosen: LocalModel, write: Callable[[Request], str]) -> Callable[[Request], str]:
        """Tell tools by a style of ours: the one asked for, else one that the decoder reads, else the default."""
        wanted = chosen.prompt if chosen.prompt != TEMPLATE else chosen.decoder
        style = wanted if wanted in STYLES else DEFAULT_STYLE
        self.decoder = style

        def written(request: Request) -> str:
            messages, _ = prompted(request, style)
            return write(replace(request, messages=tuple(messages), tools=()))

        return written


def _with_start_token(write: Callable[[Request], str], tokenizer: Tokenizer | None) -> Callable[[Request], str]:
    """Put before the text what every text begins with, which a chat template does by itself."""
    start = str((tokenizer and tokenizer.bos_token) or "")
    return lambda request: start + write(request)


_WITHOUT_TOKENIZER = OWN_PROMPTS.keys() - {"gorilla"}
"""That of Gorilla begins with a token of its tokenizer."""


def load_prompts(options: Mapping[str, Json]) -> ModelPrompts:
    """Find and load what an order's model needs for its prompts: mostly its tokenizer. Raises ModelUnavailable."""
    said = cast("Mapping[str, str]", options)
    root, chosen = Path(said["root"]), find_model(said["name"], options)
    template = read_template(said["template"], root) if "template" in said else None
    if template is None and chosen.prompt in _WITHOUT_TOKENIZER:
        return ModelPrompts(chosen)
    weights = find_weights(chosen, said.get("revision"), root)
    return ModelPrompts(chosen, _tokenizer(weights, trusted=options.get("trust_remote_code") is True), template)


def _tokenizer(weights: Weights, *, trusted: bool) -> Any:
    transformers = import_library("transformers")
    if weights.gguf:
        import_library("gguf")
    file = {"gguf_file": weights.gguf} if weights.gguf else {}
    try:
        return transformers.AutoTokenizer.from_pretrained(
            str(weights.path), trust_remote_code=trusted, local_files_only=True, **file
        )
    except Exception as error:  # whatever a stranger's files may lead to
        told = " ".join(str(error).split())[:200]
        raise ModelUnavailable(f"the tokenizer in {weights.path} cannot be loaded: {told}") from None
