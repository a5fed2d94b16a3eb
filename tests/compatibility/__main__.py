"""`python -m tests.compatibility`: write the files and the public names of the version under development anew."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compatibility.public_names import NAMES, public_names
from tests.compatibility.written_files import VERSIONS, this_version, write_version


def main() -> None:
    """Write the folder of the version that is installed."""
    folder = VERSIONS / this_version()
    shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as outside:  # of the repository, whose commit would stand in what is written
        write_version(Path(outside) / "project")
        shutil.copytree(Path(outside) / "project", folder)
    (folder / NAMES).write_text("".join(f"{name}\n" for name in public_names()), "utf-8")
    print(f"{folder}: written by {this_version()}")


if __name__ == "__main__":
    main()
