from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.settings import (
    ModelEntry,
    Option,
    SettingsError,
    ascii_lines_option,
    flag_option,
    integer_option,
    model_of_alias,
    read_entry,
    text_option,
)
from pytest_fcall.core import Json, Model

KNOWN: dict[str, Option] = {
    "seed": integer_option(),
    "strict": flag_option(),
    "style": text_option(),
    "headers": ascii_lines_option(),
}


def entry(root: Path, toml: str, model: Model) -> ModelEntry:
    (root / "pyproject.toml").write_text(toml, encoding="utf-8")
    return read_entry(model, root, KNOWN)


def same_for_replies(name: str, settings: dict[str, Json]) -> ModelEntry:
    """An entry whose replies depend on all of its settings."""
    return ModelEntry(name, settings, settings)


def test_without_a_file_the_query_alone_counts(tmp_path: Path) -> None:
    model = Model("openai", "m", {"seed": "7", "strict": "true"})
    assert read_entry(model, tmp_path, KNOWN) == same_for_replies("m", {"seed": 7, "strict": True})


def test_an_entry_is_found_by_the_models_id(tmp_path: Path) -> None:
    toml = '[tool.fcall.models."openai:m"]\nseed = 1\nstyle = "a"\n[tool.fcall.models."openai:n"]\nseed = 2\n'
    assert entry(tmp_path, toml, Model("openai", "m", {"seed": "7"})) == same_for_replies(
        "m", {"seed": 7, "style": "a"}
    )
    assert entry(tmp_path, toml, Model("any", "m")) == same_for_replies("m", {})


ALIAS = """
[tool.fcall.models."openai:m-5"]
seed = 1
style = "a"
[tool.fcall.models.fast]
model = "openai:m-5"
seed = 2
"""


def test_an_alias_has_what_is_set_for_the_model_behind_it(tmp_path: Path) -> None:
    assert entry(tmp_path, ALIAS, Model("openai", "fast")) == same_for_replies("m-5", {"seed": 2, "style": "a"})


def test_an_alias_names_a_model_of_its_kind_under_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(ALIAS)
    assert model_of_alias("fast", tmp_path) == Model("openai", "fast")
    assert model_of_alias("openai:m-5", tmp_path) is None
    assert model_of_alias("slow", tmp_path) is None


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("tool = ", "pyproject.toml cannot be read: Invalid value"),
        ("tool = 1", "pyproject.toml: [tool] must be a table"),
        ("[tool.fcall]\nmodels = []", "pyproject.toml: [tool.fcall.models] must be a table"),
        ("[tool.fcall.models]\nm = 1", 'pyproject.toml: [tool.fcall.models."m"] must be a table'),
        (
            '[tool.fcall.models."openai:m"]\nsead = 1',
            'pyproject.toml, [tool.fcall.models."openai:m"]: `sead` is not a setting; available: seed, strict, style',
        ),
        ('[tool.fcall.models."openai:m"]\nseed = true', "`seed` must be an integer"),
        ('[tool.fcall.models."openai:m"]\nseed = 2026-11-21', "`seed` must be an integer"),
        ('[tool.fcall.models."openai:m"]\nstyle = " "', "`style` must be a non-empty string"),
        (
            '[tool.fcall.models."openai:m"]\nheaders = {a = 2026-11-21}',
            "`headers` must be a mapping of ASCII names to one-line ASCII strings",
        ),
        (
            '[tool.fcall.models.m]\nmodel = "openai:n"\n[tool.fcall.models.m.5]\nseed = 1',
            'available: seed, strict, style, headers; a name with dots needs quotes: [tool.fcall.models."m.5"]',
        ),
        (
            '[tool.fcall.models.m]\nmodel = "openai:n"\n[tool.fcall.models.m.seeds]\nseed = 1',
            'a name with dots needs quotes: [tool.fcall.models."m.seeds"]; did you mean `seed`?',
        ),
        ('[tool.fcall.model.m]\nmodel = "openai:n"', "there is no table [tool.fcall.model]; available: models, prices"),
        ("[tool.fcall.price.m]\ninput = 1", "available: models, prices; did you mean `prices`?"),
        ('[tool.fcall]\nfc_model = ["openai:m"]', "[tool.fcall]: `fc_model` belongs under [tool.pytest.ini_options]"),
        ("[tool.fcall]\ntimeout = 5", "there is no table [tool.fcall.timeout]; available: models, prices"),
        ('[tool.fcall.models.m]\nmodel = "n"', "`model` must be KIND:NAME"),
        ("[tool.fcall.models.m]\nmodel = 5", "`model` must be KIND:NAME"),
        ('[tool.fcall.models.m]\nmodel = "any:n/o"', "`model` is any:n/o, but the model was given as openai:m"),
    ],
)
def test_a_bad_entry_is_told_with_file_and_key(tmp_path: Path, toml: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        entry(tmp_path, toml, Model("openai", "m"))
    assert str(caught.value).startswith("pyproject.toml")
    assert message in str(caught.value)


def test_an_entry_of_a_model_cannot_stand_for_another(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fcall.models."openai:m"]\nmodel = "openai:n"')
    with pytest.raises(SettingsError, match="in an entry whose own name has no colon"):
        model_of_alias("openai:m", tmp_path)


def test_an_unknown_key_of_a_query_is_told_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        read_entry(Model("openai", "m", {"sed": "1"}), tmp_path, KNOWN)
    assert str(caught.value) == (
        "openai:m, after the question mark: `sed` is not a setting; available: seed, strict, style, headers; "
        "did you mean `seed`?"
    )


def test_settings_on_which_no_reply_depends_are_kept_apart(tmp_path: Path) -> None:
    toml = '[tool.fcall.models."openai:m"]\nseed = 1\nheaders = { "X-Team" = "a" }\n'
    found = entry(tmp_path, toml, Model("openai", "m"))
    assert (set(found.settings), found.reply_settings) == ({"seed", "headers"}, {"seed": 1})
