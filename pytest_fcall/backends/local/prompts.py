"""Requests as a local model reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fcall.backends.local.aliases import TEMPLATE, LocalModel
from pytest_fcall.backends.local.own_prompts import WRITERS, plain
from pytest_fcall.backends.local.templates import ChatTemplate, Tokenizer
from pytest_fcall.backends.prompting import DEFAULT_STYLE, STYLES, prompted
from pytest_fcall.core import Request

_DATE = "the chat template tells the date: that of the case's `now`, else 26 July 2024"


class Prompts:
    """Writes the prompts of one model.

    `decoder` reads the answers to requests that have tools. `notes` says what a person may not expect, a line each.
    The texts are whole: no special tokens are to be put before them. `template` stands for the tokenizer's own. Only a
    prompt that a model has to itself is written without a tokenizer; else a ValueError is raised.
    """

    def __init__(self, chosen: LocalModel, tokenizer: Tokenizer | None = None, template: str | None = None) -> None:
        self.decoder = chosen.decoder
        self.notes: tuple[str, ...] = ()
        if template is None and chosen.prompt in WRITERS:
            self._write = _begun(WRITERS[chosen.prompt], tokenizer if chosen.prompt == "gorilla" else None)
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
            return self._in_words(chosen, _begun(plain, tokenizer))
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


def _begun(write: Callable[[Request], str], tokenizer: Tokenizer | None) -> Callable[[Request], str]:
    """Put before the text what every text begins with, which a chat template does by itself."""
    start = str((tokenizer and tokenizer.bos_token) or "")
    return lambda request: start + write(request)
