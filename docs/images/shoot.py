"""Photograph the page of the run below: `make screenshots` writes `report.png` and `case.png` beside this file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

APP = '''\
import re

WORDS = {"weather": "get_weather", "table": "book_table", "flight": "find_flight", "remind": "set_reminder"}
MISTAKES = {"careful": (7,), "quick": (4, 7, 15, 22, 26, 33)}
"""The questions that each model gets wrong."""


def answered(request, model):
    question = request.messages[-1]["content"]
    number, cities = int(question.split()[-1]), re.findall("Oslo|Rome|Bern|Riga|Lima|Quito", question)
    tool = next((name for word, name in WORDS.items() if word in question), None)
    is_hurried = model == "quick" and "briefly" in request.messages[0]["content"]
    calls = [{"name": tool, "arguments": {"city": city, "days": 3}} for city in cities] if tool else []
    if calls and (number in MISTAKES[model] or (is_hurried and number % 6 == 2)):
        calls = wrong(calls, number)
    return calls or "You are welcome!"


def wrong(calls, number):
    first, *rest = calls
    if number % 4 == 2 and rest:
        return [first]
    if number % 4 == 3:
        return [{**first, "name": "get_weather" if first["name"] != "get_weather" else "set_reminder"}, *rest]
    return [{**first, "arguments": {"city": first["arguments"]["city"], "days": 30}}, *rest]


def careful(request):
    return answered(request, "careful")


def quick(request):
    return answered(request, "quick")
'''
TOOLS = {
    "get_weather": "Tell the weather in a city on the next days.",
    "book_table": "Book a table in a city, in so many days.",
    "find_flight": "Find a flight to a city, in so many days.",
    "set_reminder": "Remind the user of a city, in so many days.",
}
QUESTIONS = (
    "What is the weather going to be in {} for 3 days",
    "Please book a table in {} in 3 days",
    "Find me a flight to {} in 3 days",
    "Please remind me of {} in 3 days",
)
CITIES = ("Oslo", "Rome", "Bern", "Riga", "Lima", "Quito")
SYSTEM = "You are the assistant of a travel shop. Call the tools that the question needs."
EDITED = "You are the assistant of a travel shop. Answer briefly. Call the tools that the question needs."
MODELS = ("--fc-model=python:assistant:careful", "--fc-model=python:assistant:quick")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def case_file(system: str) -> str:
    """Forty cases, with this system prompt."""
    city = "{type: object, properties: {city: {type: string}, days: {type: integer}}, required: [city]}"
    lines = ["tools:"]
    lines += [f"  - {{name: {name}, description: '{text}', parameters: {city}}}" for name, text in TOOLS.items()]
    lines += [f"defaults: {{system: '{system}'}}", "cases:", *map(case, range(40))]
    return "\n".join(lines) + "\n"


def case(number: int) -> str:
    """A case about one city or two, or about none."""
    if number % 10 == 9:
        return f"  - {{id: thanks_{number}, tags: [talk], prompt: 'Thanks, that was all {number}', expect: no_call}}"
    tool, question = [*TOOLS][number % 4], QUESTIONS[number % 4]
    cities = [CITIES[number % 6], CITIES[(number + 1) % 6]][: 2 if number % 4 == 2 else 1]
    calls = ", ".join(f"{{{tool}: {{city: {city}, days: 3}}}}" for city in cities)
    prompt = f"{question.format(' and '.join(cities))}, {number}".replace(", ", " - ") + f" {number}"
    return f"  - {{id: {tool}_{number}, tags: [travel], prompt: '{prompt}', expect: [{calls}]}}"


def make_run(folder: Path) -> Path:
    """Accept what the models answer, ask them with another system prompt, and return the page about that."""
    (folder / "cases").mkdir()
    (folder / "assistant.py").write_text(APP, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nfc_gates =\n    accuracy >= 90%\n    regressions <= 2\n")
    for system, *options in ((SYSTEM, "--fc-accept=all"), (SYSTEM,), (SYSTEM,), (EDITED, "--fc-report=run.html")):
        (folder / "cases/shop.fc.yaml").write_text(case_file(system), encoding="utf-8")
        pytest(folder, *options)
    return folder / "run.html"


def pytest(folder: Path, *options: str) -> None:
    """Ask both models."""
    outside = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *MODELS, *options]
    subprocess.run(command, cwd=folder, env=outside, check=False, stdout=subprocess.DEVNULL)  # noqa: S603


def photograph(page: Page, address: str, name: str, height: int) -> None:
    """Write what a window of this height shows."""
    page.set_viewport_size({"width": 1200, "height": height})
    page.goto(address)
    page.wait_for_timeout(500)
    page.screenshot(path=Path(__file__).with_name(name))


def main() -> None:
    """Make the run, and photograph the overview and a case."""
    with TemporaryDirectory() as temporary, sync_playwright() as playwright:
        address = make_run(Path(temporary)).as_uri()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        photograph(page, address, "report.png", 900)
        page.goto(f"{address}#/cases?outcome=regressed")
        first = page.locator("#cases a[href*='#/case/']").first.get_attribute("href")
        photograph(page, address + str(first), "case.png", 900)
        browser.close()


if __name__ == "__main__":
    main()
