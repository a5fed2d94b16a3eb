"""Assembles an answerer from weights, tokenizer, prompts, grammar and engine, in the process that holds the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.backends.local.aliases import find_model
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.chat_template import read_template
from pytest_fcall.backends.local.continuous_engine import ContinuousEngine
from pytest_fcall.backends.local.grammar import Grammars
from pytest_fcall.backends.local.loaded_model import LoadOptions, load_model
from pytest_fcall.backends.local.prompts import ModelPrompts
from pytest_fcall.backends.local.static_engine import StaticEngine
from pytest_fcall.backends.local.weights import find_adapter, find_weights
from pytest_fcall.core.json_data import optional_field, required_field
from pytest_fcall.core.values import Json


def make_answerer(options: Mapping[str, Json]) -> Answerer:
    """Find and load the model of a specification. Raises ModelUnavailable."""

    def text(name: str) -> str | None:
        return optional_field(options, name, str)

    root, model = Path(required_field(options, "root", str)), find_model(required_field(options, "name", str), options)
    weights = find_weights(model, text("revision"), root)
    adapter = text("adapter")
    load_options = LoadOptions(
        dtype=text("dtype"),
        device=text("device"),
        device_map=text("device_map"),
        adapter=find_adapter(adapter, root) if adapter else None,
        trust_remote_code=options.get("trust_remote_code") is True,
    )
    template = text("template")
    template_text = read_template(template, root) if template else None
    loaded = load_model(weights, load_options)
    prompts = ModelPrompts(model, loaded.tokenizer, template_text)
    about = {
        "weights": " ".join(filter(None, (model.address, weights.gguf, weights.revision))),
        **loaded.description,
        **({"adapter": adapter} if adapter else {}),
    }
    if options.get("engine") == "continuous":
        return Answerer(ContinuousEngine(loaded, about), prompts)
    return Answerer(StaticEngine(loaded, Grammars(loaded, prompts.decoder), about), prompts)
