"""The answering process loads a model by this."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pytest_fcall.backends.local.aliases import known
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.continuous import ContinuousEngine
from pytest_fcall.backends.local.engine import TransformersEngine
from pytest_fcall.backends.local.grammar import Grammars
from pytest_fcall.backends.local.loading import Loading, load_model
from pytest_fcall.backends.local.prompts import Prompts
from pytest_fcall.backends.local.templates import read_template
from pytest_fcall.backends.local.weights import find_adapter, find_weights
from pytest_fcall.core import Json


def answerer(options: Mapping[str, Json]) -> Answerer:
    """Find, load and speak to the model of an order. Raises ModelUnavailable, in words."""
    said = cast("Mapping[str, str]", options)
    root, chosen = Path(said["root"]), known(said["name"], options)
    weights = find_weights(chosen, said.get("revision"), root)
    adapter = find_adapter(said["adapter"], root) if "adapter" in said else None
    loading = Loading(
        said.get("dtype"), said.get("device"), said.get("device_map"), adapter, options.get("trust_remote_code") is True
    )
    template = read_template(said["template"], root) if "template" in said else None
    loaded = load_model(weights, loading)
    prompts = Prompts(chosen, loaded.tokenizer, template)
    about = {
        "weights": " ".join(filter(None, (chosen.hub, weights.gguf, weights.revision))),
        **loaded.about,
        **({"adapter": said["adapter"]} if adapter else {}),
    }
    if said.get("engine") == "continuous":
        return Answerer(ContinuousEngine(loaded, about), prompts)
    return Answerer(TransformersEngine(loaded, Grammars(loaded, prompts.decoder), about), prompts)
