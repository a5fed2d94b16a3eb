"""The versions of the documentation side by side: a folder for each release, and `latest` for what is checked out.

    python docs/site/versions.py build/site build/versions

Each release is built by its own Makefile, so with the libraries that it names. Beside the folders stands
`versions.json`; each folder has the same list as a script, since a page opened from a file may not read JSON.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tarfile import TarFile
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).parents[2]
RELEASE = re.compile(r"v(\d+(?:\.\d+)+)")
"""The tags that have a folder; release candidates have none."""
FIRST_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>pytest-fcall</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<p><a href="{folder}/index.html">The documentation of pytest-fcall</a></p>
</html>
"""


def release_tags(repository: Path) -> list[str]:
    """The tags of final releases, the newest first."""
    tags = filter(RELEASE.fullmatch, _git(repository, "tag", "--list").decode().split())
    return sorted(tags, key=lambda tag: [int(part) for part in tag[1:].split(".")], reverse=True)


def build_release(repository: Path, tag: str, folder: Path) -> Path:
    """Build the site of a tag in an empty folder, and return where it lies."""
    with TarFile(fileobj=BytesIO(_git(repository, "archive", "--format=tar", tag))) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # Python has none before 3.11.4
        files.extractall(folder)  # noqa: S202  # git made it of our own tag
    command = ["make", "--no-print-directory", "-C", str(folder), "docs-site"]
    subprocess.run(command, check=True)  # noqa: S603  no shell, and the program is a fixed one
    return folder / "build" / "site"


def join_sites(sites: Mapping[str, Path], folder: Path) -> None:
    """Move the sites into folders of these names, and tell each of all. The last of them is `latest`."""
    versions = []
    for name, site in sites.items():
        shutil.move(site, folder / name)
        pages = sorted(page.relative_to(folder / name).as_posix() for page in (folder / name).rglob("*.html"))
        versions.append({"name": name, "pages": pages})
    listed = json.dumps(versions, separators=(",", ":"))
    (folder / "versions.json").write_text(f"{listed}\n", "utf-8")
    for name in sites:
        (folder / name / "_static" / "versions.js").write_text(f"const VERSIONS = {listed};\n", "utf-8")
    (folder / "index.html").write_text(FIRST_PAGE.format(folder=next(iter(sites))), "utf-8")


def _git(repository: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603  no shell, and a fixed program


def main(latest: Path, folder: Path, repository: Path = REPOSITORY) -> None:
    """Build all releases, and put them and a built site of what is checked out into a new folder."""
    folder.mkdir(parents=True)
    with TemporaryDirectory() as made:
        sites = {tag[1:]: build_release(repository, tag, Path(made, tag)) for tag in release_tags(repository)}
        built = shutil.copytree(latest, Path(made, "latest"))
        join_sites({**sites, "latest": built}, folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
