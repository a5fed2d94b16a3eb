"""A user's project: the files of a page in a folder of their own, run by the pytest of their environment."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self
from xml.etree import ElementTree as ET

from tests.frameworks.framework import ENVIRONMENTS, Framework
from tests.frameworks.interpreter import Done, Interpreter
from tests.servers import Server

CASES = ("weather", "both", "thanks")
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_OPENAI_API_KEY")
_OURS = re.compile(
    r"PYTEST|COV|GITHUB|CI$|FC_|FCALL|.*_(API_KEY|BASE_URL|API_BASE|ENDPOINT)$|(HTTPS?|ALL|NO)_PROXY$", re.IGNORECASE
)


def addresses(server: Server) -> dict[str, str]:
    """What leads the libraries of each provider to a server that plays it, and keys for it."""
    address = f"http://{server.host}"
    return {
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_API_BASE": f"{address}/v1",
        "ANTHROPIC_BASE_URL": address,
        "GOOGLE_GEMINI_BASE_URL": address,
        "AZURE_OPENAI_ENDPOINT": address,
        **dict.fromkeys(_KEYS, "sk-of-nobody"),
    }


_CLOSED = "http://127.0.0.1:1"
NOWHERE: Mapping[str, str] = MappingProxyType(
    {"HTTPS_PROXY": _CLOSED, "HTTP_PROXY": _CLOSED, "ALL_PROXY": _CLOSED, "NO_PROXY": "127.0.0.1,localhost"}
)
"""A machine that knows no provider: whoever leaves it all the same meets a port where nobody listens."""
_QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
"""What libraries do without, so that no test leaves this machine, or waits since it cannot."""


def environment_of(framework: Framework) -> dict[str, str]:
    """The variables of a user who has activated the environment of a framework."""
    kept = {name: value for name, value in os.environ.items() if not _OURS.match(name)}
    path = os.pathsep.join([str(framework.python.parent), kept.get("PATH", "")])
    return {**kept, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1", **_QUIET, **NOWHERE}


@dataclass(frozen=True)
class Run:
    """A run of pytest that is over."""

    status: int
    output: str
    outcomes: Mapping[str, str]
    """passed, failure, error or skipped, by the names of tests."""

    def passed(self, count: int) -> Self:
        """Make sure that so many tests passed, and nothing else happened."""
        assert (self.status, [*self.outcomes.values()]) == (0, ["passed"] * count), self.output
        return self

    def not_green(self) -> Self:
        """Make sure that nothing passed."""
        assert self.status != 0, self.output
        assert "passed" not in self.outcomes.values(), self.output
        return self


class Project:
    """The folder. `provider` plays all providers for runs that may ask, which the `interpreter` runs."""

    def __init__(self, framework: Framework, folder: Path, provider: Server, interpreter: Interpreter) -> None:
        self.framework = framework
        self.folder = folder
        self._provider = provider
        self._interpreter = interpreter
        for name, text in framework.files.items():
            self.write(name, text)
        if framework.group == "node":
            (folder / "node_modules").symlink_to(ENVIRONMENTS / "node" / "node_modules")

    def write(self, name: str, text: str) -> None:
        """Have this file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def change(self, name: str, old: str, new: str) -> None:
        """Put `new` where `old` stands in a file."""
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text, f"{old!r} does not stand in {name}"
        self.write(name, text.replace(old, new))

    def copy(self, folder: Path, provider: Server, interpreter: Interpreter, *, recorded: bool) -> Project:
        """The project as it is in version control, elsewhere; with what was `recorded`, or without."""
        copied = Project(self.framework, folder, provider, interpreter)
        written = [*self.folder.rglob("*.lock.json"), *(self.folder.rglob("__fcall__/**/*.jsonl") if recorded else ())]
        for path in written:
            copied.write(str(path.relative_to(self.folder)), path.read_text(encoding="utf-8"))
        return copied

    def break_tool(self) -> None:
        """Have a tool of the agent fail."""
        file = self.framework.tools or self.framework.file
        python = file.endswith(".py")
        told = 'return f"sunny in {city}"' if python else "`sunny in ${city}`"
        self.change(file, told, "raise RuntimeError('broken')" if python else "nobody.knows(city)")

    def break_agent(self) -> None:
        """Have the agent fail where it is made."""
        file = self.framework.file
        text = (self.folder / file).read_text(encoding="utf-8")
        self.write(
            file, text + ("\n\nraise RuntimeError('broken')\n" if file.endswith(".py") else "\nnobody.knows();\n")
        )

    def go_around(self, server: Server) -> None:
        """Have the agent ask a server by an address of its own, whatever the variables say."""
        file = self.framework.file
        text = (self.folder / file).read_text(encoding="utf-8")
        if file.endswith(".py"):
            around = self.framework.around.format(url=server.url)
            self.write(file, f"import os\n\nos.environ.update({addresses(server)!r})\n{text}\n{around}\n")
        else:
            self.change(file, "import { openai }", "import { createOpenAI }")
            self.change(
                file, "const tools", f"const openai = createOpenAI({{ baseURL: '{server.url}' }});\nconst tools"
            )

    def without_wire(self) -> None:
        """Expect nothing of what is asked behind the answers."""
        cases = (self.folder / "cases/shop.fc.yaml").read_text(encoding="utf-8")
        self.write("cases/shop.fc.yaml", re.sub(r"    wire:.*\n", "", cases))

    def run(self, *arguments: str) -> Run:
        """Run the cases, with keys and a provider that answers."""
        return self._pytest(list(arguments), addresses(self._provider))

    def replayed(self, *arguments: str) -> Run:
        """Run the cases from what is exported, and from nothing else."""
        return self.offline("--fc-replay", *arguments)

    def offline(self, *arguments: str) -> Run:
        """Run pytest as in continuous integration: without keys, and without anybody who would answer."""
        shutil.rmtree(self.folder / ".fcall", ignore_errors=True)
        before = len(self._provider.asked)
        run = self._pytest(list(arguments), {})
        assert len(self._provider.asked) == before, f"a provider was asked in a replay\n{run.output}"
        return run

    def fcall(self, *arguments: str) -> None:
        """Run `fcall`, which has to succeed. It finds the keys of a developer."""
        done = self._run("pytest_fcall.cli", arguments, addresses(self._provider))
        assert done.status == 0, done.output

    def linted(self) -> str:
        """What `fcall lint` says."""
        return self._run("pytest_fcall.cli", ["lint", "cases"], addresses(self._provider)).output

    def _pytest(self, arguments: list[str], environment: Mapping[str, str]) -> Run:
        results = self.folder / "results.xml"
        results.unlink(missing_ok=True)
        options = ["-v", "-rA", "-p", "no:cacheprovider", f"--junit-xml={results}"]
        done = self._run("pytest", [*options, *arguments], environment)
        return Run(done.status, done.output, _outcomes(results))

    def _run(self, module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Done:
        return self._interpreter(module, arguments, self.folder, {**environment_of(self.framework), **environment})


def _outcomes(results: Path) -> dict[str, str]:
    if not results.exists():
        return {}
    cases = ET.parse(results).iter("testcase")
    return {
        case.attrib["name"]: next((part.tag for part in case if part.tag != "properties"), "passed") for case in cases
    }
