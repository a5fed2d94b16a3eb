"""Prompts of local models: by chat template, in the model's own format, or as plain text. Writing them needs no
weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pytest_fcall.backends.local.aliases import OWN_PROMPTS, TEMPLATE, LocalModel, find_model
from pytest_fcall.backends.local.chat_template import (
    ChatTemplate,
    Tokenizer,
    functions_of,
    message_text,
    read_template,
)
from pytest_fcall.backends.local.libraries import import_library, one_line
from pytest_fcall.backends.local.weights import Weights, find_weights
from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, STYLES, with_tools_in_prompt
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.json_data import optional_field, required_field
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json

_SYSTEM_ROLES = ("system", "developer")

# The model was trained on these words, including the spaces.
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


def load_prompts(options: Mapping[str, Json]) -> ModelPrompts:
    """Load what the prompts of a specification's model need, usually its tokenizer. Raises ModelUnavailable."""
    root, model = Path(required_field(options, "root", str)), find_model(required_field(options, "name", str), options)
    template = optional_field(options, "template", str)
    template_text = read_template(template, root) if template else None
    if template_text is None and model.prompt in _WITHOUT_TOKENIZER:
        return ModelPrompts(model)
    weights = find_weights_of(options)
    return ModelPrompts(model, load_tokenizer(weights, options), template_text)


def find_weights_of(options: Mapping[str, Json]) -> Weights:
    """Find the weights of a specification's model. Raises ModelUnavailable."""
    root, model = Path(required_field(options, "root", str)), find_model(required_field(options, "name", str), options)
    return find_weights(model, optional_field(options, "revision", str), root)


def load_tokenizer(weights: Weights, options: Mapping[str, Json]) -> Any:
    """Load the tokenizer of a specification's model. Raises ModelUnavailable."""
    trusted = options.get("trust_remote_code") is True
    transformers = import_library("transformers")
    if weights.gguf:
        import_library("gguf")
    file = {"gguf_file": weights.gguf} if weights.gguf else {}
    try:
        return transformers.AutoTokenizer.from_pretrained(
            str(weights.path), trust_remote_code=trusted, local_files_only=True, **file
        )
    except Exception as error:  # a model's files may cause any error
        raise ModelUnavailable(f"the tokenizer in {weights.path} cannot be loaded: {one_line(error)}") from None


_DATE_NOTE = "the chat template inserts the date: that of the case's `now`, else 26 July 2024"


class ModelPrompts:
    """Writes the prompts of one model.

    `decoder` reads the answers to requests with tools. `notes` are remarks for people, a line each. The texts are
    complete: no special tokens are to be put before them. `template` replaces the tokenizer's own. Only the prompts in
    `PROMPT_WRITERS` can be written without a tokenizer; for others ValueError is raised.
    """

    def __init__(self, model: LocalModel, tokenizer: Tokenizer | None = None, template: str | None = None) -> None:
        self.decoder = model.decoder
        self.notes: tuple[str, ...] = ()
        if template is None and model.prompt in PROMPT_WRITERS:
            write = PROMPT_WRITERS[model.prompt]
            self._write = write if model.prompt in _WITHOUT_TOKENIZER else _with_start_token(write, tokenizer)
        elif tokenizer is None:
            raise ValueError(f"the prompt {model.prompt!r} needs a tokenizer")
        else:
            self._write = self._by_template(model, tokenizer, template)

    def prompt_text(self, request: Request) -> str:
        """The prompt. Raises CaseRefused for a request that cannot be written."""
        return self._write(request)

    def _by_template(self, model: LocalModel, tokenizer: Tokenizer, template: str | None) -> Callable[[Request], str]:
        if template is None and tokenizer.chat_template is None:
            self.notes = (
                "there is no chat template: the conversation is plain text, and tools are described in the prompt",
            )
            return self._with_tools_in_prompt(model, _with_start_token(plain_prompt, tokenizer))
        chat = ChatTemplate(tokenizer, template)
        self.notes = (_DATE_NOTE,) if chat.shows_date else ()
        if model.prompt in STYLES:
            return self._with_tools_in_prompt(model, chat.text)
        if chat.tools_place == "nowhere":
            self.notes += ("the chat template ignores tools; they are described in the prompt instead",)
            return self._with_tools_in_prompt(model, chat.text)
        return chat.text

    def _with_tools_in_prompt(self, model: LocalModel, write: Callable[[Request], str]) -> Callable[[Request], str]:
        """Describe tools in the style of the model's prompt, else in that of its decoder, else in the default."""
        wanted = model.prompt if model.prompt != TEMPLATE else model.decoder
        style = wanted if wanted in STYLES else DEFAULT_STYLE
        self.decoder = style

        def write_in_style(request: Request) -> str:
            return write(replace(request, messages=tuple(with_tools_in_prompt(request, style)), tools=()))

        return write_in_style


def _with_start_token(write: Callable[[Request], str], tokenizer: Tokenizer | None) -> Callable[[Request], str]:
    """Begin each text with the tokenizer's start token, as chat templates do."""
    start = str((tokenizer and tokenizer.bos_token) or "")
    return lambda request: start + write(request)


def gorilla_prompt(request: Request) -> str:
    """Gorilla OpenFunctions v2's prompt: the system prompt, then the tools as JSON before the first question."""
    system, turns = _turns(request, "python")
    functions = json.dumps(functions_of(request))
    before = f"<<function>>{functions}\n<<question>>" if request.tools else "<<question>> "
    lines = ["\n".join([_GORILLA, *system]) + "\n"]
    for role, text in turns:
        if role == "assistant":
            lines.append(f"### Response: {text}\n<|EOT|>\n")
        else:
            lines.append(f"### Instruction: {before}{text}\n")
            before = "<<question>>" if request.tools else before
    return "".join(lines) + "### Response: "


def smollm2_prompt(request: Request) -> str:
    """SmolLM2's prompt: ChatML, a line for each tool, and worked examples as earlier turns."""
    system, turns = _turns(request, "json")
    if request.tools:
        system = [*system, _SMOLLM2 + "\n".join(map(_tool_line, request.tools))]
        turns = [*_examples(), *turns]
    if system:
        turns = [("system", "\n".join(system)), *turns]
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def plain_prompt(request: Request) -> str:
    """The conversation as plain text without tools, for a model without a format of its own."""
    turns = ((str(message.get("role")), message_text(message)) for message in request.messages)
    return "".join(f"{role}: {text}\n" for role, text in turns) + "assistant:"


PROMPT_WRITERS: Final[Mapping[str, Callable[[Request], str]]] = MappingProxyType(
    {"gorilla": gorilla_prompt, "smollm2": smollm2_prompt}
)
_WITHOUT_TOKENIZER = OWN_PROMPTS.keys() - {"gorilla"}
"""Gorilla's prompt begins with a token of its tokenizer."""


def _turns(request: Request, style: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The system prompts, and the other messages as pairs of role and text, with earlier calls in the given style."""
    messages = with_tools_in_prompt(replace(request, tools=()), style)
    turns = [(str(message.get("role")), message_text(message)) for message in messages]
    return (
        [text for role, text in turns if role in _SYSTEM_ROLES],
        [(role, text) for role, text in turns if role not in _SYSTEM_ROLES],
    )


def _tool_line(tool: Tool) -> str:
    """A tool with the names of its parameters. Their types are left to the grammar."""
    properties = tool.parameters.get("properties")
    return f"{tool.name}({', '.join(properties if isinstance(properties, Mapping) else ())}): {tool.description}"


def _examples() -> Iterator[tuple[str, str]]:
    for question, calls in _EXAMPLES:
        yield "user", question
        yield "assistant", json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])
