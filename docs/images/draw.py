"""Draw what the run below prints: `python docs/images/draw.py` writes `docs/images/run.svg`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = {
    "shop.py": '''\
from typing import Literal


def get_weather(city: str, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Tell the weather in a city."""
''',
    "app.py": """\
import re


def answer(request):
    question = request.messages[-1]["content"]
    cities = re.findall("San Francisco|Paris|Rome|Oslo", question)
    return [{"name": "get_weather", "arguments": {"city": city}} for city in cities] or "You are welcome!"
""",
    "cases/weather.fc.yaml": """\
tools:
  - python: shop:get_weather
cases:
  - id: celsius
    prompt: What is the weather in San Francisco, in celsius?
    expect:
      - get_weather: {city: {$any: [San Francisco, SF]}, unit: celsius}
  - id: two_cities
    prompt: What is the weather in Paris and in Rome?
    expect:
      - get_weather: {city: Paris}
      - get_weather: {city: Rome}
  - id: fahrenheit
    prompt: What is the weather in Oslo, in fahrenheit?
    expect:
      - get_weather: {city: Oslo, unit: fahrenheit}
  - id: thanks
    prompt: Thanks, that was all!
    expect: no_call
""",
}
COMMAND = ["pytest", "--fc-model=python:app:answer"]
COLOURS = (
    (re.compile(r"^\$ .*"), "#79c0ff"),
    (re.compile(r"^(missing_argument|FAILED|=+ 1 failed|E ).*"), "#ff7b72"),
    (re.compile(r"^  ✗.*"), "#ff7b72"),
    (re.compile(r"^  ✓.*"), "#7ee787"),
)
LINE, COLUMN, MARGIN = 18, 7.83, 16


def output() -> list[str]:
    """Run the command in a project of its own; lines about the machine, and times, are left out."""
    with TemporaryDirectory() as folder:
        for name, text in FILES.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        quiet = [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            "-p",
            "no:asyncio",
            "-o",
            "console_output_style=classic",
        ]
        command = [sys.executable, "-m", *COMMAND, *quiet]
        wide = {**os.environ, "COLUMNS": "92"}
        printed = subprocess.run(command, cwd=folder, env=wide, capture_output=True, text=True, check=False).stdout  # noqa: S603
    kept = [line for line in printed.splitlines() if not re.match("platform|rootdir|plugins", line)]
    return [f"$ {' '.join(COMMAND)}", *(re.sub(r" in [\d.]+s ", " ", line) for line in kept)]


def drawn(lines: list[str]) -> str:
    """The lines as a picture of a terminal."""
    width = round(max(map(len, lines)) * COLUMN + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    rows = "\n".join(
        f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 13}" fill="{_colour(line)}">{_kept(line)}</text>'
        for number, line in enumerate(lines)
    )
    about = "Output of a run with one failing case"
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{about}">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="{font}" font-size="13">
{rows}
</g>
</svg>
"""


def _kept(line: str) -> str:
    """Spaces that no renderer folds."""
    return escape(line).replace(" ", "\N{NO-BREAK SPACE}")


def _colour(line: str) -> str:
    return next((colour for pattern, colour in COLOURS if pattern.match(line)), "#c9d1d9")


if __name__ == "__main__":
    Path(__file__).with_name("run.svg").write_text(drawn(output()), encoding="utf-8")
