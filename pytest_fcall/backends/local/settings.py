"""The settings of local models: those of a model, those that a case may change, and how tokens are sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pytest_fcall.backends.local.process_data import ProcessSpec
from pytest_fcall.backends.settings import (
    ModelEntry,
    Option,
    SettingsError,
    choice_option,
    flag_option,
    integer_option,
    number_option,
    positive_option,
    table_option,
    text_option,
    volatile_option,
)
from pytest_fcall.core.backend import CaseRefused
from pytest_fcall.core.json_data import optional_field, optional_number
from pytest_fcall.core.request import INTERFACES
from pytest_fcall.core.values import Json

MAKER: Final = "pytest_fcall.backends.local.assembly:make_answerer"
DEFAULT_BATCH: Final = 16
_DEFAULT_MAX_TOKENS = 512


def _positive_integer() -> Option:
    return integer_option("a positive integer", 1)


def _without_effect(option: Option) -> Option:
    """An option that decides where and how fast a model runs, but not what it answers."""
    return option._replace(affects_reply=False)


_LOAD_OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "dtype": choice_option("auto", "float32", "bfloat16", "float16"),
        "adapter": text_option("a folder, or an id of the hub"),
        "revision": text_option("a branch, a tag or a commit of the hub"),
        "prompt": text_option("template, or the name of a prompt"),
        "decoder": text_option("the name of a decoder"),
        "template": text_option("a file with a chat template"),
        "trust_remote_code": _without_effect(flag_option()),
        "device": _without_effect(text_option("a device of torch, such as cpu, cuda:1 or mps")),
        "device_map": _without_effect(choice_option("auto", "balanced", "balanced_low_0", "sequential")),
        "engine": _without_effect(choice_option("static", "continuous")),
    }
)
"""For loading the model. A case cannot set them."""

SAMPLING_OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {
        "max_new_tokens": _positive_integer(),
        "max_tokens": _positive_integer(),
        "temperature": number_option("a number, 0 or greater", 0),
        "top_p": positive_option(),
        "top_k": _positive_integer(),
        "repetition_penalty": positive_option(),
        "seed": integer_option("an integer, 0 or greater", 0),
        "grammar": choice_option("tools", "off"),
        "chat_template_kwargs": table_option(),
        "handler": choice_option(*INTERFACES),
    }
)
"""Each case may set them."""

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {**_LOAD_OPTIONS, "batch": _without_effect(_positive_integer()), "volatile": volatile_option(), **SAMPLING_OPTIONS}
)


def process_spec(entry: ModelEntry, root: Path) -> ProcessSpec:
    """The specification of the process for a model. Paths are relative to `root`.

    Raises SettingsError for settings that exclude each other.
    """
    settings = entry.settings
    if settings.get("engine") == "continuous" and (name := unsupported_by_continuous(settings)):
        raise SettingsError(f"local:{entry.name}: `engine=continuous` does not support `{name}`; remove one of the two")
    options = {name: value for name, value in settings.items() if name in _LOAD_OPTIONS}
    batch = optional_field(settings, "batch", int) or DEFAULT_BATCH
    return ProcessSpec(MAKER, {"name": entry.name, "root": str(root), **options}, batch)


def unsupported_by_continuous(settings: Mapping[str, Json]) -> str | None:
    """The first setting that continuous batching does not support: it always takes the most likely token."""
    unsupported = {
        "grammar": settings.get("grammar") == "tools",
        "temperature": settings.get("temperature") not in (None, 0),
        "repetition_penalty": settings.get("repetition_penalty") not in (None, 1),
        "device_map": settings.get("device_map") is not None,
    }
    return next((name for name, is_set in unsupported.items() if is_set), None)


def ignored_settings(model: Mapping[str, Json], case: Mapping[str, Json]) -> list[str]:
    """A note for each setting of a case that local models do not support."""
    return [
        f"`{name}` is ignored: a case cannot set it for a local model"
        for name, value in case.items()
        if name not in SAMPLING_OPTIONS and value != model.get(name)
    ]


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """The choice of tokens: the most likely one each time, unless there is a temperature."""

    max_tokens: int = _DEFAULT_MAX_TOKENS
    draw_options: Mapping[str, Json] | None = None
    """The options of random draws; None where the most likely token is taken."""
    repetition_penalty: float = 1.0
    seed: int | None = None
    grammar: bool = False
    """Whether the model can write nothing but calls of the offered tools, or none."""

    def generation_options(self) -> dict[str, Any]:
        """The options for transformers, which override those in the model's own folder."""
        neutral: dict[str, Any] = {"temperature": 1.0, "top_p": 1.0, "top_k": 0}
        return {
            "max_new_tokens": self.max_tokens,
            "repetition_penalty": self.repetition_penalty,
            "do_sample": self.draw_options is not None,
            "num_beams": 1,
            **({**neutral, **self.draw_options} if self.draw_options else {}),
        }


def read_sampling(settings: Mapping[str, Json]) -> SamplingSettings:
    """Read the sampling settings of a request. Raises CaseRefused for an invalid one, which a case may have."""
    sampling = {name: value for name, value in settings.items() if name in SAMPLING_OPTIONS and value is not None}
    for name, value in sampling.items():
        try:
            SAMPLING_OPTIONS[name].checked(value)
        except ValueError as error:
            raise CaseRefused(f"`{name}` {error}") from None
    # A case may be written for any model, and most models know the limit as `max_tokens`.
    max_tokens = optional_field(sampling, "max_tokens", int) or optional_field(sampling, "max_new_tokens", int)
    draw_options: dict[str, Json] = {
        name: sampling[name] for name in ("temperature", "top_p", "top_k") if name in sampling
    }
    return SamplingSettings(
        max_tokens=max_tokens or _DEFAULT_MAX_TOKENS,
        draw_options=draw_options if draws_tokens(sampling) else None,
        repetition_penalty=optional_number(sampling, "repetition_penalty") or 1.0,
        seed=optional_field(sampling, "seed", int),
        grammar=sampling.get("grammar") == "tools",
    )


def draws_tokens(settings: Mapping[str, Json]) -> bool:
    """Whether tokens are drawn at random, instead of the most likely one being taken."""
    temperature = settings.get("temperature")
    return isinstance(temperature, int | float) and temperature > 0
