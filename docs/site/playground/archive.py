"""The archive that the playground unpacks: rooms of the package, pure libraries, and stand-ins for compiled ones."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "pytest_fcall"
ROOMS = (
    "core",
    "schema",
    "cases",
    "decoding",
    "matching",
    "reporting",
    "backends/apps/agents",
    "backends/apps/answers",
)
ALONE = (
    "__init__.py",
    "backends/__init__.py",
    "backends/apps/__init__.py",
    "backends/openai/__init__.py",
    "backends/openai/answer_fields.py",
)
"""Modules of rooms that are not taken as a whole. The last one takes figures out of what an app returned."""
LIBRARIES = ("attr", "attrs", "jmespath", "jsonschema", "jsonschema_specifications", "referencing", "yaml")
_LEFT_OUT = ("pytest_fcall/reporting/reports/", "jsonschema/tests/", "jsonschema/benchmarks/", "referencing/tests/")
_SUFFIXES = frozenset({".py", ".json", ""})
"""Vocabularies of JSON Schema have no suffix."""


def write_archive(path: Path) -> None:
    """Write the archive. The same sources give the same bytes."""
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, file in sorted(archived_files()):
            archive.writestr(ZipInfo(name), file.read_bytes(), ZIP_DEFLATED)


def archived_files() -> Iterator[tuple[str, Path]]:
    """The files by their names in the archive."""
    for name in ALONE:
        yield f"pytest_fcall/{name}", PACKAGE / name
    for room in ROOMS:
        yield from _folder(PACKAGE / room, f"pytest_fcall/{room}")
    for library in LIBRARIES:
        spec = find_spec(library)
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError(
                f"the playground needs the library {library}: pip install -r docs/site/requirements.txt"
            )
        yield from _folder(Path(next(iter(spec.submodule_search_locations))), library)
    yield from _folder(HERE / "libraries", "")
    yield "judge.py", HERE / "judge.py"


def _folder(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    for file in folder.rglob("*"):
        inside = f"{name}/{file.relative_to(folder).as_posix()}".lstrip("/")
        if file.is_file() and file.suffix in _SUFFIXES and not inside.startswith(_LEFT_OUT):
            yield inside, file
