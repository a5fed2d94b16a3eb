"""What a project says of its models in pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FILE = "pyproject.toml"


def project_tables(root: Path, name: str) -> dict[str, Mapping[str, object]]:
    """The tables `[tool.fcall.NAME.KEY]` by their keys; none where the project has no such file or no such tables.

    Raises ValueError, with a line that names file and key, for what cannot be read.
    """
    found = _read(root / FILE)
    path = ""
    for part in ("tool", "fcall", name):
        path = f"{path}.{part}" if path else part
        found = _table(found.get(part, {}), path)
    return {key: _table(value, f'{path}."{key}"') for key, value in found.items()}


def _read(file: Path) -> Mapping[str, object]:
    import tomllib

    try:
        with file.open("rb") as opened:
            return tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{FILE} cannot be read: {error}") from None


def _table(value: object, path: str) -> Mapping[str, object]:
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{FILE}: [{path}] must be a table")
