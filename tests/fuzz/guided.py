"""Fuzzing that follows what inputs run through: `python -m tests.fuzz.guided TARGET [options of libFuzzer]`.

It needs atheris, which has an environment of its own: `make fuzz-files` runs all targets.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["pytest_fcall", "tests"]):
    from tests.fuzz.files import make_project, targets


def main() -> None:
    """Fuzz one target until libFuzzer ends; what fails is kept in `.fcall/fuzz/`."""
    name, *options = sys.argv[1:]
    warnings.simplefilter("error")
    kept = Path(".fcall/fuzz")
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_project(folder)
        target, seeds, work = targets()[name], folder / "seeds", folder / "work"
        seeds.mkdir()
        work.mkdir()
        for number, content in enumerate(target.seeds(folder)):
            (seeds / str(number)).write_bytes(content)
        artifacts = f"-artifact_prefix={kept}/{name}-"
        atheris.Setup(
            [sys.argv[0], artifacts, "-max_len=65536", *options, str(seeds)], lambda data: target.run(data, work)
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
