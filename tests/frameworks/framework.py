"""The frameworks, their pages and the environments that they are installed in."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.pages import FRAMEWORKS as PAGES
from tests.pages import ROOT, Block, blocks_of

ENVIRONMENTS = Path(os.environ.get("FRAMEWORKS", ROOT / ".venv-frameworks"))


WAYS: Mapping[str, str] = MappingProxyType(
    {
        "called": "python:ways:called",
        "awaited": "python:ways:awaited",
        "streamed": "python:ways:streamed",
        "threaded": "python:threads:threaded",
    }
)
BEHIND_HTTP: Mapping[str, str] = MappingProxyType({"streamed": "http:streamed"})


@dataclass(frozen=True)
class Framework:
    """A page of docs/frameworks."""

    name: str
    """That of the page."""
    title: str
    group: str
    """The environment, after its file of requirements."""
    often: bool = False
    """Whether it is among those that are used most, which continuous integration runs."""
    in_all_ways: bool = False
    """Whether continuous integration calls it in all ways, too: a plain client, and one that has threads of its own."""
    ways: Mapping[str, str] = field(default_factory=lambda: WAYS)
    """The models that ask it in other ways, by what is tried with them."""
    file: str = "shop.py"
    """The file that the agent is in."""
    tools: str = ""
    """The file that its tools are in, if it is another one."""
    around: str = ""
    """The line that has it ask `{url}`, where it reads variables too late for the app to set them."""

    @property
    def installed(self) -> bool:
        """Whether its environment is there, and meant to be used."""
        wanted = os.environ.get("FRAMEWORK_GROUPS", self.group).split()
        return self.group in wanted and (ENVIRONMENTS / self.group / ".ready").exists()

    @property
    def blocks(self) -> list[Block]:
        """What the page shows."""
        return list(blocks_of(PAGES / f"{self.name}.md"))

    @property
    def files(self) -> dict[str, str]:
        """The files that the page shows."""
        return {block.path: block.text for block in self.blocks if block.path}

    @property
    def requests(self) -> int:
        """How many requests the cases of the page expect in all."""
        return sum(map(int, re.findall(r"wire: \{count: (\d+)\}", self.files["cases/shop.fc.yaml"])))

    @property
    def python(self) -> Path:
        """The interpreter of its environment; that of the tests, for what is not written in Python."""
        return Path(sys.executable) if self.group == "node" else ENVIRONMENTS / self.group / "bin" / "python"

    @property
    def imports(self) -> list[str]:
        """The modules of others that its Python imports."""
        texts = {name.removesuffix(".py"): text for name, text in self.files.items() if name.endswith(".py")}
        found = {name for text in texts.values() for name in _imported(ast.parse(text))}
        return sorted(found - texts.keys())

    @property
    def glue(self) -> int:
        """The lines of the function that stands between the agent and its cases; 0 where the agent itself is named."""
        lines = self.files[self.file].splitlines()
        if "def answer(request):" not in lines:
            return 0
        return len([line for line in lines[lines.index("def answer(request):") :] if line.strip()])


def _imported(module: ast.Module) -> Iterator[str]:
    for statement in module.body:
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module


FRAMEWORKS = (
    Framework("pydantic-ai", "pydantic-ai", "common", often=True),
    Framework("langchain", "LangChain, LangGraph", "common", often=True, in_all_ways=True),
    Framework("openai-agents", "OpenAI Agents SDK", "common", often=True),
    Framework("openai", "OpenAI's library", "common", often=True, in_all_ways=True),
    Framework("anthropic", "Anthropic's library", "common", often=True),
    Framework("google-genai", "google-genai", "common"),
    Framework("azure", "Azure's client", "common"),
    Framework("fastapi", "FastAPI, OpenTelemetry", "common", ways=BEHIND_HTTP, tools="tools.py"),
    Framework("smolagents", "smolagents", "more"),
    Framework("llama-index", "LlamaIndex", "more"),
    Framework("litellm", "LiteLLM", "more", around="litellm.api_base = {url!r}"),
    Framework(
        "dspy", "DSPy", "more", around="program.set_lm(dspy.LM('openai/gpt-5.2', api_base={url!r}, cache=False))"
    ),
    Framework("adk", "Google ADK", "more"),
    Framework("crewai", "CrewAI", "crewai"),
    Framework("autogen", "AutoGen", "autogen"),
    Framework("ag2", "AG2", "autogen"),
    Framework("vercel-ai", "Vercel AI SDK", "node", ways=BEHIND_HTTP, file="server.mjs"),
)
