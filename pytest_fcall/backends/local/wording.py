"""What writes a model's prompts, without the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pytest_fcall.backends.local.aliases import OWN_PROMPTS, known
from pytest_fcall.backends.local.libraries import library
from pytest_fcall.backends.local.prompts import Prompts
from pytest_fcall.backends.local.templates import read_template
from pytest_fcall.backends.local.weights import Weights, find_weights
from pytest_fcall.core import Json, ModelUnavailable

_WITHOUT_TOKENIZER = OWN_PROMPTS.keys() - {"gorilla"}
"""That of Gorilla begins with a token of its tokenizer."""


def wording(options: Mapping[str, Json]) -> Prompts:
    """Find and load what an order's model needs for its prompts: mostly its tokenizer. Raises ModelUnavailable."""
    said = cast("Mapping[str, str]", options)
    root, chosen = Path(said["root"]), known(said["name"], options)
    template = read_template(said["template"], root) if "template" in said else None
    if template is None and chosen.prompt in _WITHOUT_TOKENIZER:
        return Prompts(chosen)
    weights = find_weights(chosen, said.get("revision"), root)
    return Prompts(chosen, _tokenizer(weights, trusted=options.get("trust_remote_code") is True), template)


def _tokenizer(weights: Weights, *, trusted: bool) -> Any:
    transformers = library("transformers")
    if weights.gguf:
        library("gguf")
    file = {"gguf_file": weights.gguf} if weights.gguf else {}
    try:
        return transformers.AutoTokenizer.from_pretrained(
            str(weights.path), trust_remote_code=trusted, local_files_only=True, **file
        )
    except Exception as error:  # whatever a stranger's files may lead to
        told = " ".join(str(error).split())[:200]
        raise ModelUnavailable(f"the tokenizer in {weights.path} cannot be loaded: {told}") from None
