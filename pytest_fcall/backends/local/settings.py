"""The settings of local models: those of a model, those that a case may change, and how tokens are sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from pytest_fcall.backends.local.process_data import ProcessSpec
from pytest_fcall.backends.settings import (
    ModelEntry,
    Option,
    SettingsError,
    choice_option,
    flag_option,
    integer_option,
    number_option,
    table_option,
    text_option,
)
from pytest_fcall.core import CaseRefused, Json

MAKER: Final = "pytest_fcall.backends.local.assembly:answerer"
DEFAULT_BATCH: Final = 16


def _no_shape(option: Option) -> Option:
    """What says where and how fast a model runs, and not what it answers."""
    return replace(option, shapes=False)


_LOADING: Mapping[str, Option] = MappingProxyType(
    {
        "dtype": choice_option("auto", "float32", "bfloat16", "float16"),
        "adapter": text_option("a folder, or an id of the hub"),
        "revision": text_option("a branch, a tag or a commit of the hub"),
        "prompt": text_option("template, or the name of a prompt"),
        "decoder": text_option("the name of a decoder"),
        "template": text_option("a file with a chat template"),
        "trust_remote_code": _no_shape(flag_option()),
        "device": _no_shape(text_option("a device of torch, such as cpu, cuda:1 or mps")),
        "device_map": _no_shape(choice_option("auto", "balanced", "balanced_low_0", "sequential")),
        "engine": _no_shape(choice_option("static", "continuous")),
    }
)
"""What a model is loaded with. A case cannot say it."""

SAMPLING_OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {
        "max_new_tokens": integer_option("an integer above zero", 1),
        "max_tokens": integer_option("an integer above zero", 1),
        "temperature": number_option("a number from zero on", 0),
        "top_p": number_option("a number above zero", 0, above=True),
        "top_k": integer_option("an integer above zero", 1),
        "repetition_penalty": number_option("a number above zero", 0, above=True),
        "seed": integer_option("an integer from zero on", 0),
        "grammar": choice_option("tools", "off"),
        "chat_template_kwargs": table_option("a mapping of JSON values"),
    }
)
"""What each request may say otherwise."""

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {**_LOADING, "batch": _no_shape(integer_option("an integer above zero", 1)), **SAMPLING_OPTIONS}
)


def process_spec(entry: ModelEntry, root: Path) -> ProcessSpec:
    """What the answering process is to load. Folders are named as seen from `root`.

    Raises BadSettings for what does not go together.
    """
    if entry.settings.get("engine") == "continuous" and (name := unsupported_by_continuous(entry.settings)):
        raise SettingsError(f"local:{entry.name}: `engine=continuous` knows of no `{name}`; leave one of them out")
    options = {name: value for name, value in entry.settings.items() if name in _LOADING}
    return ProcessSpec(
        MAKER,
        {"name": entry.name, "root": str(root), **options},
        cast("int", entry.settings.get("batch", DEFAULT_BATCH)),
    )


def unsupported_by_continuous(settings: Mapping[str, Json]) -> str | None:
    """The first setting that asks for what continuous batching cannot do: it takes the likeliest token each time."""
    asked = {
        "grammar": settings.get("grammar") == "tools",
        "temperature": settings.get("temperature") not in (None, 0),
        "repetition_penalty": settings.get("repetition_penalty") not in (None, 1),
        "device_map": settings.get("device_map") is not None,
    }
    return next((name for name, beyond in asked.items() if beyond), None)


def answer_settings(settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings that the answer depends on."""
    return {name: value for name, value in settings.items() if OPTIONS[name].shapes}


def check_sampling(settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """What a request says of how tokens are chosen, which a case may have written. Raises CaseRefused, in words."""
    said = {name: value for name, value in settings.items() if name in SAMPLING_OPTIONS and value is not None}
    for name, value in said.items():
        try:
            SAMPLING_OPTIONS[name].checked(value)
        except ValueError as error:
            raise CaseRefused(f"`{name}` {error}") from None
    return said


def ignored_settings(model: Mapping[str, Json], case: Mapping[str, Json]) -> list[str]:
    """What a request says beyond what is set for the model, and no local model can be told."""
    return [
        f"`{name}` is left out: local models have no such setting for a case"
        for name, value in case.items()
        if name not in SAMPLING_OPTIONS and value != model.get(name)
    ]


_DEFAULT_MAX_TOKENS = 512
_DRAWING = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The most likely token each time, unless there is a temperature."""

    max_tokens: int = _DEFAULT_MAX_TOKENS
    drawing: Mapping[str, Json] | None = None
    """What a draw depends on, where there is one."""
    repetition_penalty: float = 1.0
    seed: int | None = None
    grammar: bool = False
    """Whether nothing but calls of the offered tools, or none, can be said."""

    def options(self) -> dict[str, Any]:
        """The same in the words of transformers. Whatever a model's own folder says otherwise is overruled."""
        neutral: dict[str, Any] = {"temperature": 1.0, "top_p": 1.0, "top_k": 0}
        return {
            "max_new_tokens": self.max_tokens,
            "repetition_penalty": self.repetition_penalty,
            "do_sample": self.drawing is not None,
            "num_beams": 1,
            **((neutral | dict(self.drawing)) if self.drawing else {}),
        }


def read_sampling(settings: Mapping[str, Json]) -> Sampling:
    """Take what a request says. Raises CaseRefused for a value that cannot be."""
    said = check_sampling(settings)
    drawing = {name: said[name] for name in _DRAWING if name in said}
    # A case may be written for any model, and most of these know `max_tokens` only.
    most = said.get("max_tokens", said.get("max_new_tokens", _DEFAULT_MAX_TOKENS))
    return Sampling(
        max_tokens=cast("int", most),
        drawing=drawing if drawing.get("temperature") else None,
        repetition_penalty=cast("float", said.get("repetition_penalty", 1.0)),
        seed=cast("int | None", said.get("seed")),
        grammar=said.get("grammar") == "tools",
    )
