"""A job that uses the action: the steps of action.yml one by one, as GitHub takes them.

Programs of steps are run by bash. Actions of GitHub itself are played: caches that keep files, and an artifact.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.integration.command import plain
from tests.suite_tools import WITHOUT_TOOLS

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
ARTIFACT_URL = "https://github.example/octo/shop/actions/runs/1001/artifacts/5"
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Ended:
    """What came of a use of the action."""

    status: int
    output: str
    outputs: dict[str, str]
    summary: str
    artifact: Path
    """The folder that was uploaded; it does not exist where none was."""


@dataclass
class Job:
    """A job of a workflow with a checkout; its caches outlive it."""

    workspace: Path
    environment: dict[str, str]
    temp: Path
    path: str
    """Where programs are found before the others."""
    caches: dict[str, dict[Path, bytes]] = field(default_factory=dict)

    def use(self, *, run: str = "1001", attempt: str = "1", **inputs: str) -> Ended:
        """Use the action with these inputs; `run` and `attempt` number the workflow."""
        given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
        unknown = {name.replace("_", "-") for name in inputs} - given.keys()
        assert not unknown, unknown
        return _Use(self, run, attempt, given | {name.replace("_", "-"): value for name, value in inputs.items()}).end()


class _Use:
    def __init__(self, job: Job, run: str, attempt: str, inputs: dict[str, str]) -> None:
        self.job = job
        self.values = {f"inputs.{name}": self._filled_default(value) for name, value in inputs.items()}
        self.values |= {"github.job": "cases", "github.run_id": run, "github.run_attempt": attempt}
        self.output = ""
        self.summary = ""
        self.status = 0
        self.artifact = job.temp / f"artifact-{run}-{attempt}"

    def end(self) -> Ended:
        for number, step in enumerate(ACTION["runs"]["steps"]):
            if self._is_due(step.get("if", "")):
                status = self._run(number, step) if "run" in step else self._played(step)
                self.status = self.status or status
        outputs = {name: self._filled(each["value"]) for name, each in ACTION["outputs"].items()}
        return Ended(self.status, self.output, outputs, self.summary, self.artifact)

    def _filled_default(self, text: str) -> str:
        return text.replace("${{ github.token }}", self.job.environment["GITHUB_TOKEN"])

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self.values.get(found[1], ""), text)

    def _is_due(self, condition: str) -> bool:
        terms = [term.strip() for term in _EXPRESSION.sub(r"\1", condition).split("&&") if term.strip()]
        always = {"always()", "!cancelled()"} & set(terms)
        return (bool(always) or not self.status) and all(self._holds(term) for term in terms if term not in always)

    def _holds(self, term: str) -> bool:
        found = re.fullmatch(r"([\w.-]+) (==|!=) '(.*)'", term)
        assert found, f"no such condition is known here: {term}"
        return (self.values.get(found[1], "") == found[3]) == (found[2] == "==")

    def _run(self, number: int, step: dict[str, Any]) -> int:
        assert step["shell"] == "bash"
        files = {name: self.job.temp / f"{name}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("", encoding="utf-8")
        kept = {name: value for name, value in self.job.environment.items() if name != "GITHUB_TOKEN"}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.job.workspace / self._filled(step.get("working-directory", ".")),
            env={
                **plain(),
                "PYTEST_ADDOPTS": f"{WITHOUT_TOOLS} -p no:cacheprovider",
                "PATH": os.pathsep.join([self.job.path, os.environ["PATH"]]),
                "GITHUB_ACTION_PATH": str(ROOT),
                "RUNNER_TEMP": str(self.job.temp),
                **kept,
                **{name: str(file) for name, file in files.items()},
                **{name: self._filled(value) for name, value in step.get("env", {}).items()},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        self.output += done.stdout
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        for line in files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines():
            name, equals, value = line.partition("=")
            assert equals, line
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
        return done.returncode

    def _played(self, step: dict[str, Any]) -> int:
        given = {name: self._filled(str(value)) for name, value in step["with"].items()}
        match step["uses"].partition("@")[0]:
            case "actions/cache/restore":
                self._restore(given)
            case "actions/cache/save":
                found = {path: path.read_bytes() for path in self._files(given["path"])}
                if found:
                    self.job.caches.setdefault(f"{given['path']}|{given['key']}", found)
            case "actions/upload-artifact":
                shutil.copytree(given["path"], self.artifact, dirs_exist_ok=True)
                self.values[f"steps.{step['id']}.outputs.artifact-url"] = ARTIFACT_URL
        return 0

    def _restore(self, given: dict[str, str]) -> None:
        for key in (given["key"], *given["restore-keys"].split()):
            entries = [entry for entry in self.job.caches if entry.startswith(f"{given['path']}|{key}")]
            for path, content in self.job.caches[entries[-1]].items() if entries else ():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if entries:
                return

    def _files(self, pattern: str) -> list[Path]:
        found = self.job.workspace.glob(str(Path(pattern)))
        return [file for each in found for file in ([each] if each.is_file() else each.rglob("*")) if file.is_file()]
