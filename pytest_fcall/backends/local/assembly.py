"""Puts an answerer together: weights, tokenizer, prompts, grammar and engine. Runs in the process that holds the
model.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pytest_fcall.backends.local.aliases import find_model
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.chat_template import read_template
from pytest_fcall.backends.local.continuous_engine import ContinuousEngine
from pytest_fcall.backends.local.grammar import Grammars
from pytest_fcall.backends.local.loaded_model import LoadOptions, load_model
from pytest_fcall.backends.local.prompts import ModelPrompts
from pytest_fcall.backends.local.static_engine import TransformersEngine
from pytest_fcall.backends.local.weights import find_adapter, find_weights
from pytest_fcall.core import Json


def answerer(options: Mapping[str, Json]) -> Answerer:
    """Find, load and speak to the model of an order. Raises ModelUnavailable, in words."""
    said = cast("Mapping[str, str]", options)
    root, chosen = Path(said["root"]), find_model(said["name"], options)
    weights = find_weights(chosen, said.get("revision"), root)
    adapter = find_adapter(said["adapter"], root) if "adapter" in said else None
    loading = LoadOptions(
        said.get("dtype"), said.get("device"), said.get("device_map"), adapter, options.get("trust_remote_code") is True
    )
    template = read_template(said["template"], root) if "template" in said else None
    loaded = load_model(weights, loading)
    prompts = ModelPrompts(chosen, loaded.tokenizer, template)
    about = {
        "weights": " ".join(filter(None, (chosen.hub, weights.gguf, weights.revision))),
        **loaded.about,
        **({"adapter": said["adapter"]} if adapter else {}),
    }
    if said.get("engine") == "continuous":
        return Answerer(ContinuousEngine(loaded, about), prompts)
    return Answerer(TransformersEngine(loaded, Grammars(loaded, prompts.decoder), about), prompts)
