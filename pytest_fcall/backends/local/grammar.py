"""`grammar=tools`: nothing but calls of the offered tools, or none, can be written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pytest_fcall.backends.local.answer_forms import FORMS
from pytest_fcall.backends.local.libraries import library
from pytest_fcall.backends.local.loading import Loaded
from pytest_fcall.core import CaseRefused, Json, Tool, canonical

_KEPT = 256
"""Grammars that are kept: one takes up to a second to make, and many cases offer the same tools."""


class Grammars:
    """Makes grammars of answers in the form that `decoder` reads."""

    def __init__(self, loaded: Loaded, decoder: str) -> None:
        self._loaded = loaded
        self._decoder = decoder
        self._compiler: Any = None
        self._made: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """What is stored with a reply."""
        return f"tools, xgrammar {version('xgrammar')}"

    def constraint(self, offered: Sequence[Sequence[Tool]]) -> Constraint:
        """What chooses among tokens, for one batch: a row of tools for each prompt. No tools, no constraint.

        Raises ModelUnavailable without xgrammar, and CaseRefused for what there is no grammar of.
        """
        return Constraint([self._grammar(tools) if tools else None for tools in offered])

    def _grammar(self, tools: Sequence[Tool]) -> Any:
        if self._decoder not in FORMS:
            raise CaseRefused(
                f"there is no grammar of the answers that the decoder {self._decoder!r} reads; "
                f"there are of those for {', '.join(FORMS)}"
            )
        key = canonical([[tool.name, tool.parameters] for tool in tools])
        if key not in self._made:
            if len(self._made) == _KEPT:
                self._made.clear()
            self._made[key] = self._compiled(FORMS[self._decoder](tools))
        return self._made[key]

    def _compiled(self, form: Mapping[str, Json]) -> Any:
        xgrammar = library("xgrammar", "`grammar` needs")
        if self._compiler is None:
            self._compiler = xgrammar.GrammarCompiler(
                xgrammar.TokenizerInfo.from_huggingface(
                    self._loaded.tokenizer,
                    vocab_size=self._loaded.model.config.get_text_config().vocab_size,
                    stop_token_ids=sorted(self._loaded.ends),
                )
            )
        try:
            if form["type"] == "json_schema":  # by itself, it can be held to the usual spaces
                return self._compiler.compile_json_schema(json.dumps(form["json_schema"]), any_whitespace=False)
            return self._compiler.compile_structural_tag(json.dumps({"type": "structural_tag", "format": form}))
        except (RuntimeError, ValueError) as error:
            told = " ".join(str(error).split())[:200]
            raise CaseRefused(f"no grammar can be made of the tools: {told}") from None


class Constraint:
    """For one batch: rules out the tokens with which no answer could go on."""

    def __init__(self, grammars: Sequence[Any]) -> None:
        self._xgrammar = library("xgrammar", "`grammar` needs")
        self._matchers = [self._xgrammar.GrammarMatcher(each) if each is not None else None for each in grammars]
        self._begun = False

    def __call__(self, ids: Any, scores: Any) -> Any:
        """Take in what was chosen last, and forbid what cannot follow."""
        allowed = self._xgrammar.allocate_token_bitmask(len(self._matchers), scores.shape[-1])
        for row, matcher in enumerate(self._matchers):
            if matcher is None:
                continue
            # A row that is done is filled up with tokens that are none of its answer.
            if matcher.is_terminated() or (self._begun and not matcher.accept_token(int(ids[row, -1]))):
                self._matchers[row] = None
            elif not matcher.is_terminated():
                matcher.fill_next_token_bitmask(allowed, row)
        self._begun = True
        where = scores.device
        if where.type not in ("cpu", "cuda"):
            scores = scores.cpu()
        self._xgrammar.apply_token_bitmask_inplace(scores, allowed.to(scores.device))
        return scores.to(where)
