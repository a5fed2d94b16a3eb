"""Runs pytest for the action, again while a run is inconclusive, and tells the steps behind what came of it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INCONCLUSIVE, USAGE_ERROR, INTERRUPTED = 10, 4, 130
MOST_ATTEMPTS, MOST_WAIT = 10, 3_600
REPORTS = {"report.html": "html", "report.md": "md", "run.json": "json", "annotations.txt": "github"}
"""The files that each attempt writes, and their kinds."""
STATUSES = {"passed": "passed", "failed": "failed", "errors": "error"}
"""The outputs that count results, and the status that each of them counts."""


def main(environment: Mapping[str, str]) -> int:
    """Run pytest, and return its exit status."""
    folder = Path(tempfile.mkdtemp(prefix="pytest-fcall-", dir=environment.get("RUNNER_TEMP")))
    name = re.sub(r"[^\w.-]+", "-", environment["FCALL_NAME"])
    tell(environment, folder=folder, artifact=f"pytest-fcall-{name}" if name else "pytest-fcall")
    try:
        attempts = number(environment, "FCALL_ATTEMPTS", 1, MOST_ATTEMPTS)
        wait = number(environment, "FCALL_WAIT", 0, MOST_WAIT)
        arguments = [*own_arguments(environment), *(f"--fc-report={REPORTS[file]}:{folder / file}" for file in REPORTS)]
    except ValueError as error:
        print(f"::error title=pytest-fcall::{error}")
        return USAGE_ERROR
    status = last_status(arguments, folder, attempts if asks_models(arguments) else 1, wait)
    tell(environment, status=status, **figures(folder))
    annotations = folder / "annotations.txt"
    if annotations.exists():
        print(annotations.read_text(encoding="utf-8"), end="")
        annotations.unlink()
    return status


def own_arguments(environment: Mapping[str, str]) -> list[str]:
    """The arguments that the workflow names. Raises ValueError."""
    models = [line.strip() for line in environment["FCALL_MODEL"].splitlines() if line.strip()]
    return [
        *words(environment, "FCALL_PATHS"),
        *(f"--fc-model={model}" for model in models),
        *words(environment, "FCALL_ARGS"),
    ]


def words(environment: Mapping[str, str], variable: str) -> list[str]:
    """The words of an input, quoted as in a shell, of which nothing is run. Raises ValueError."""
    try:
        return shlex.split(environment[variable])
    except ValueError as error:
        raise ValueError(f"{input_of(variable)}: {error}") from None


def number(environment: Mapping[str, str], variable: str, least: int, most: int) -> int:
    """An input that is a number. Raises ValueError."""
    text = environment[variable].strip()
    if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise ValueError(f"{input_of(variable)}: must be a number from {least} to {most}, not {text!r}")
    return int(text)


def input_of(variable: str) -> str:
    """The input that a variable holds."""
    return variable.removeprefix("FCALL_").lower()


def asks_models(arguments: Sequence[str]) -> bool:
    """Whether models are asked. Where recorded replies are judged, another attempt judges the same ones."""
    return any(argument.startswith(("--fc-model", "--fc-live")) for argument in arguments)


def last_status(arguments: Sequence[str], folder: Path, attempts: int, wait: int) -> int:
    """The exit status of the last attempt. Reports and the summary of the job are those of that attempt."""
    summary = Path(os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull)
    before = summary.stat().st_size if summary.is_file() else 0
    for attempt in range(1, attempts + 1):
        for file in REPORTS:
            (folder / file).unlink(missing_ok=True)
        if summary.is_file():
            os.truncate(summary, before)
        with unobeyed_output():
            status = subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode
        if status != INCONCLUSIVE or attempt == attempts:
            break
        print(f"fcall: attempt {attempt} of {attempts} is inconclusive; the next one begins in {wait} s", flush=True)
        time.sleep(wait)
    return status if status >= 0 else 128 - status


@contextmanager
def unobeyed_output() -> Iterator[None]:
    """GitHub obeys no command in what is printed meanwhile, as models and apps print, too."""
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}", flush=True)
    try:
        yield
    finally:
        print(f"::{word}::", flush=True)


def figures(folder: Path) -> dict[str, object]:
    """What came of the run, as far as it has left a file."""
    file, page = folder / "run.json", folder / "report.html"
    if not file.exists():
        return {"passed": "", "failed": "", "errors": "", "regressed": "", "run": "", "report": ""}
    run = json.loads(file.read_bytes())
    results: list[dict[str, Any]] = run["results"]["results"]
    return {
        **{name: sum(each["status"] == status for each in results) for name, status in STATUSES.items()},
        "regressed": sum(each.get("outcome") == "regressed" for each in results),
        "run": with_accounts(file, run["id"]),
        "report": page if page.exists() else "",
    }


def with_accounts(file: Path, run: str) -> Path:
    """The file of a run beside what was asked and answered in it, where the project keeps both."""
    kept = list(Path(".fcall/runs").glob(f"{run}.*"))
    if not kept:
        return file
    file.unlink()
    for each in kept:
        shutil.copyfile(each, file.with_name(each.name))
    return file.with_name(f"{run}.json")


def tell(environment: Mapping[str, str], **outputs: object) -> None:
    """Hand outputs to the steps behind this one."""
    with Path(environment["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in outputs.items())


if __name__ == "__main__":
    try:
        sys.exit(main(os.environ))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
