"""What may be set for a model on this machine, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from pytest_fcall.backends.entries import BadSettings, Entry
from pytest_fcall.backends.local.order import Order
from pytest_fcall.backends.options import Option, choice, flag, integer, number, table, text
from pytest_fcall.core import CaseRefused, Json

MAKER: Final = "pytest_fcall.backends.local.making:answerer"
BATCH: Final = 16


def _no_shape(option: Option) -> Option:
    """What says where and how fast a model runs, and not what it answers."""
    return replace(option, shapes=False)


_LOADING: Mapping[str, Option] = MappingProxyType(
    {
        "dtype": choice("auto", "float32", "bfloat16", "float16"),
        "adapter": text("a folder, or an id of the hub"),
        "revision": text("a branch, a tag or a commit of the hub"),
        "prompt": text("template, or the name of a prompt"),
        "decoder": text("the name of a decoder"),
        "template": text("a file with a chat template"),
        "trust_remote_code": _no_shape(flag()),
        "device": _no_shape(text("a device of torch, such as cpu, cuda:1 or mps")),
        "device_map": _no_shape(choice("auto", "balanced", "balanced_low_0", "sequential")),
        "engine": _no_shape(choice("static", "continuous")),
    }
)
"""What a model is loaded with. A case cannot say it."""

SAMPLING: Final[Mapping[str, Option]] = MappingProxyType(
    {
        "max_new_tokens": integer("an integer above zero", 1),
        "max_tokens": integer("an integer above zero", 1),
        "temperature": number("a number from zero on", 0),
        "top_p": number("a number above zero", 0, above=True),
        "top_k": integer("an integer above zero", 1),
        "repetition_penalty": number("a number above zero", 0, above=True),
        "seed": integer("an integer from zero on", 0),
        "grammar": choice("tools", "off"),
        "chat_template_kwargs": table("a mapping of JSON values"),
    }
)
"""What each request may say otherwise."""

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {**_LOADING, "batch": _no_shape(integer("an integer above zero", 1)), **SAMPLING}
)


def order(entry: Entry, root: Path) -> Order:
    """What the answering process is to load. Folders are named as seen from `root`.

    Raises BadSettings for what does not go together.
    """
    if entry.settings.get("engine") == "continuous" and (name := not_continuous(entry.settings)):
        raise BadSettings(f"local:{entry.name}: `engine=continuous` knows of no `{name}`; leave one of them out")
    options = {name: value for name, value in entry.settings.items() if name in _LOADING}
    return Order(
        MAKER, {"name": entry.name, "root": str(root), **options}, cast("int", entry.settings.get("batch", BATCH))
    )


def not_continuous(settings: Mapping[str, Json]) -> str | None:
    """The first setting that asks for what continuous batching cannot do: it takes the likeliest token each time."""
    asked = {
        "grammar": settings.get("grammar") == "tools",
        "temperature": settings.get("temperature") not in (None, 0),
        "repetition_penalty": settings.get("repetition_penalty") not in (None, 1),
        "device_map": settings.get("device_map") is not None,
    }
    return next((name for name, beyond in asked.items() if beyond), None)


def shaping(settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings that the answer depends on."""
    return {name: value for name, value in settings.items() if OPTIONS[name].shapes}


def checked(settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """What a request says of how tokens are chosen, which a case may have written. Raises CaseRefused, in words."""
    said = {name: value for name, value in settings.items() if name in SAMPLING and value is not None}
    for name, value in said.items():
        try:
            SAMPLING[name].checked(value)
        except ValueError as error:
            raise CaseRefused(f"`{name}` {error}") from None
    return said


def left_out(model: Mapping[str, Json], case: Mapping[str, Json]) -> list[str]:
    """What a request says beyond what is set for the model, and no local model can be told."""
    return [
        f"`{name}` is left out: local models have no such setting for a case"
        for name, value in case.items()
        if name not in SAMPLING and value != model.get(name)
    ]
