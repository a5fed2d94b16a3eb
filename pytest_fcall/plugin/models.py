"""The models under test: who named them, and whether they may be asked."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl

import pytest

from pytest_fcall.core import Model

_MODEL: Final = re.compile(r"(?P<id>.*)\[(?P<model>[^\W\d]\w*:[^\[\]]+)\]")
_OURS: Final = ("python:", "http:", "openai:", "any:", "local:")
_CASE_FILES: Final = (".yaml", ".yml")


def without_model(text: str) -> tuple[str, str | None]:
    """Take an id and the model behind it apart. What stands there may also be a row of the test's own."""
    found = _MODEL.fullmatch(text)
    return (found["id"], found["model"]) if found else (text, None)


def models_in_ids(config: pytest.Config) -> frozenset[str]:
    """What stands behind the ids of tests."""
    return frozenset(model for text in _id_arguments(config) if (model := without_model(text)[1]))


def models_in_case_ids(config: pytest.Config) -> dict[str, str]:
    """The models that ids of cases name, each with such an id: there nobody has rows that look so."""
    found: dict[str, str] = {}
    for text in _id_arguments(config):
        id_, model = without_model(text)
        path, of_file, _ = id_.partition("::")
        if model and model.startswith(_OURS) and (path.endswith(_CASE_FILES) or not of_file):
            found.setdefault(model, text)
    return found


def _id_arguments(config: pytest.Config) -> list[str]:
    """The ids; those of suites without a file are picked."""
    picked: str = config.getoption("fc_pick") or ""
    return [*(arg for arg in config.args if "::" in arg), *(part.strip() for part in picked.split(","))]


Origin: TypeAlias = Literal["command line", "configuration", "fixture"]


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model, and whether it may be asked: plain `pytest` asks nobody."""

    model: Model
    origin: Origin
    live: bool
    option: str = "--fc-model"
    """What names it on the command line."""


MODELS = pytest.StashKey[tuple[NamedModel, ...]]()

EXAMPLES = "python:shop.agent:answer"
HOW_TO_NAME_ONE = (
    "no model is named. Name one with --fc-model=KIND:NAME, in the configuration (fc_model = KIND:NAME), "
    f"or by a fixture `fc_model` in conftest.py; for example --fc-model={EXAMPLES}"
)


def named_models(config: pytest.Config) -> tuple[NamedModel, ...]:
    """The models of the command line, or else those of the configuration, and those behind the ids of cases.

    Raises UsageError for a bad one.
    """
    if MODELS not in config.stash:
        config.stash[MODELS] = _read(config)
    return config.stash[MODELS]


def _read(config: pytest.Config) -> tuple[NamedModel, ...]:
    replay: bool = config.getoption("fc_replay")
    if replay and config.getoption("fc_live"):
        raise pytest.UsageError("--fc-live asks models and --fc-replay asks none: give one of them")
    typed: list[str] = config.getoption("fc_model")
    pasted = models_in_case_ids(config)
    if typed:
        models = [
            NamedModel(parse_model(text, "--fc-model", config.rootpath), "command line", live=not replay)
            for text in typed
        ]
    else:
        live: bool = config.getoption("fc_live")
        written: list[str] = config.getini("fc_model")
        models = [NamedModel(parse_model(text, "fc_model", config.rootpath), "configuration", live) for text in written]
        known = {named.model.id for named in models}
        models += [
            NamedModel(parse_model(text, id_, config.rootpath), "command line", live)
            for text, id_ in pasted.items()
            if text not in known
        ]
    ids = [named.model.id for named in models]
    if other := next((text for text in pasted if text not in ids), None):
        raise pytest.UsageError(
            f"{pasted[other]} is a case of the model {other}, and --fc-model names {', '.join(ids)}: leave one out"
        )
    if twice := next((id_ for id_ in ids if ids.count(id_) > 1), None):
        raise pytest.UsageError(f"the model {twice} is named twice; a run asks each model once")
    return tuple(models)


def ids_have_models(config: pytest.Config) -> bool:
    """Whether the names of tests end in their models: where there are several, or an id on the command line does."""
    ids = [named.model.id for named in named_models(config)]
    return len(ids) > 1 or not models_in_ids(config).isdisjoint(ids)


def parse_model(text: str, where: str, root: Path) -> Model:
    """Take `KIND:NAME?key=value&…` apart; `where` it stood is for the message of the UsageError.

    `ALIAS?key=value&…` does, too, where the project in `root` has an entry of that name.
    """
    whole, _, query = text.strip().partition("?")
    kind, colon, name = whole.partition(":")
    if not colon:
        kind, name = _kind_of(whole, root), whole
    if not (kind.isidentifier() and name and name.isprintable()):
        told = "" if colon else _meant(whole, root)
        raise pytest.UsageError(f"{where}: {whole!r} names no model; {told}write KIND:NAME, such as {EXAMPLES}")
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        told = f"{where}: behind the question mark of {whole!r} must stand key=value, or key=value&key=value"
        raise pytest.UsageError(told) from None  # what stands there may hold a key
    return Model(kind, name, options)


def _kind_of(alias: str, root: Path) -> str:
    from pytest_fcall.backends.settings import SettingsError, model_of_alias

    try:
        found = model_of_alias(alias, root)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    return found.kind if found else ""


def _meant(name: str, root: Path) -> str:
    """A suggestion: an entry of the project that goes by nearly this name, or else a model that is known here."""
    from pytest_fcall.backends.local.aliases import ALIASES
    from pytest_fcall.backends.settings import aliases
    from pytest_fcall.schema.value_text import nearest

    known = {**{alias: f"local:{alias}" for alias in ALIASES}, **{alias: alias for alias in aliases(root)}}
    meant = nearest(name, known)
    return f"did you mean {known[meant]}? else " if meant else ""


def header(config: pytest.Config) -> list[str]:
    """What the run says of its models before it starts."""
    from pytest_fcall.reporting.header import header_lines

    named = named_models(config)
    return header_lines(
        [_shown(each.model, config.rootpath) for each in named],
        origin=named[0].origin,
        live=any(each.live for each in named),
        profile=_profile(config),
    )


def _profile(config: pytest.Config) -> str:
    """The rules that judge: those of the suites of the command line, or ours, of which files may say otherwise."""
    if not config.getoption("fc_suite"):
        return "strict by default"
    if asked := config.getoption("fc_suite_profile"):
        return str(asked)
    from pytest_fcall.cases.suite import split_suite_name
    from pytest_fcall.core.extension import profile_of
    from pytest_fcall.session.extensions import known_suites

    known = known_suites(config)
    names = [split_suite_name(spec)[0] for spec in config.getoption("fc_suite")]
    return ", ".join(dict.fromkeys(profile_of(known[name]) for name in names if name in known)) or "strict"


def _shown(model: Model, root: Path) -> str:
    """The model, with the grammar that it is held to: what it says then is not all its own doing."""
    if model.kind != "local":
        return model.id
    from pytest_fcall.backends.local import local_backend
    from pytest_fcall.backends.settings import SettingsError

    with suppress(SettingsError):  # whoever asks it will be told
        grammar = local_backend(model, root).settings.get("grammar", "off")
        return model.id if grammar == "off" else f"{model.id}?grammar={grammar}"
    return model.id


def parametrise(metafunc: pytest.Metafunc) -> None:
    """Run a plain test once for each model, where there are several and no conftest file replaced the fixture."""
    named = named_models(metafunc.config)
    if ids_have_models(metafunc.config):
        metafunc.parametrize("fc_model", named, indirect=True, ids=[each.model.id for each in named])
