"""Models as users name them: `KIND:NAME?key=value`, or an alias of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qsl

from pytest_fcall.core.backend import Model
from pytest_fcall.session.endings import SettingError

Origin: TypeAlias = Literal["command line", "configuration", "fixture"]

BUILT_IN_KINDS = frozenset({"any", "http", "local", "openai", "python"})
EXAMPLE = "python:shop.agent:answer"
_BY_OPTION = f"  with --fc-model=KIND:NAME, for example --fc-model={EXAMPLE}"
_BY_CONFIGURATION = "in the configuration: fc_model = KIND:NAME"
HOW_TO_NAME_A_MODEL = (
    f"no model is named. Name one\n{_BY_OPTION}\n  {_BY_CONFIGURATION}\n  or by a fixture `fc_model` in conftest.py"
)
HOW_TO_NAME_A_MODEL_OUTSIDE_TESTS = (
    "no model is named, and that of a fixture `fc_model` is there in tests only. Name one\n"
    f"{_BY_OPTION}\n  or {_BY_CONFIGURATION}"
)


class NamedModel(NamedTuple):
    """A model, and whether it may be asked: plain `pytest` asks no model."""

    model: Model
    origin: Origin
    live: bool
    option: str = "--fc-model"
    """The option that names it on the command line."""


def parse_model(text: str, where: str, root: Path) -> Model:
    """Parse `KIND:NAME?key=value&…`, or `ALIAS?key=value&…` where the project in `root` has such an entry.

    Raises SettingError; `where` says in its text what held the name.
    """
    whole, _, query = text.strip().partition("?")
    kind, colon, name = whole.partition(":")
    if not colon:
        kind, name = _kind_of_alias(whole, root), whole
    if not (kind.isidentifier() and name and name.isprintable()):
        from pytest_fcall.core.message_text import clauses, suggestion
        from pytest_fcall.session.model_suggestion import meant_by_name, meant_by_path

        text = f"{where}: {whole!r} is not the name of a model; write KIND:NAME, such as {EXAMPLE} or openai:NAME"
        meant = meant_by_path(kind, name) if colon else meant_by_name(whole, root)
        raise SettingError(clauses(text, suggestion(meant)))
    try:
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        text = f"{where}: the question mark of {whole!r} must be followed by key=value, or key=value&key=value"
        raise SettingError(text) from None  # the query itself may hold a key
    options = dict(given)
    if len(options) < len(given):
        twice = next(key for key in options if [each for each, _ in given].count(key) > 1)
        raise SettingError(f"{where}: `{twice}` is given more than once after the question mark of {whole!r}")
    return Model(kind, name, options)


def _kind_of_alias(alias: str, root: Path) -> str:
    from pytest_fcall.backends.settings import SettingsError, model_of_alias

    try:
        found = model_of_alias(alias, root)
    except SettingsError as error:
        raise SettingError(str(error)) from None
    return found.kind if found else ""
