"""Each example is copied, installed and run as its README says, and turns red where the README says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples.example import EXAMPLES, WHEELS, Copy

if not WHEELS:
    pytest.skip("the wheel of this checkout is built by `make test-examples`", allow_module_level=True)

Copies = Callable[[str], Copy]
OK, FAILED, INCONCLUSIVE = 0, 1, 10


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Copies of examples whose README was followed, each once for all tests."""
    made: dict[str, Copy] = {}

    def followed(name: str) -> Copy:
        if name not in made:
            (example,) = (path for path in EXAMPLES if path.name == name)
            made[name] = Copy(example, tmp_path_factory.mktemp("copy") / name)
            made[name].follow()
        return made[name]

    return followed


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_a_copy_is_green_by_the_commands_of_its_readme(example: Path, copies: Copies) -> None:
    assert (copies(example.name).folder / ".fcall/runs").exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_commands_of_its_workflow_are_green(example: Path, copies: Copies) -> None:
    copy = copies(example.name)
    text = (example / ".github/workflows/tool-calls.yml").read_text("utf-8")
    steps = [line.split("run: ", 1)[1] for line in text.splitlines() if "run: " in line]
    assert steps[0].startswith("pip install")
    for step in steps[1:]:
        done = copy.run(f"export GITHUB_STEP_SUMMARY=summary.md CI=true; {step}")
        assert done.returncode == OK, f"{step}\n{done.stdout}"
    assert "fcall: passed" in (copy.folder / "summary.md").read_text("utf-8")


PROMPTS = {
    "support-agent": ("support/agent.py", "help the customers", "annoy the customers"),
    "booking-service": ("booking/app.py", "take bookings", "refuse bookings"),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_a_changed_prompt_is_named_and_not_green(name: str, copies: Copies) -> None:
    file, old, new = PROMPTS[name]
    copy = copies(name)
    with copy.changed(file, old, new):
        done = copy.run("pytest")
    assert done.returncode == INCONCLUSIVE, done.stdout
    assert f"- You {old}" in done.stdout
    assert f"+ You {new}" in done.stdout
    assert "pytest --fc-live && fcall record --export" in done.stdout


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "status"),
    [
        ("support-agent", "support/tools.py", '"""Cancel an order."""', '"""Call an order off."""', INCONCLUSIVE),
        ("support-agent", "support/tools.py", "TOOLS = [order_status, ", "TOOLS = [", INCONCLUSIVE),
        ("support-agent", "support/tools.py", "def cancel_order(order", "def cancel_order(number", INCONCLUSIVE),
        ("support-agent", "support/shop.py", "is cancelled.", "is gone.", INCONCLUSIVE),
        ("support-agent", "cases/support.fc.yaml", "topic: damage", "topic: other", FAILED),
        ("booking-service", "booking/tools.py", '"""Cancel a booking by', '"""Call a booking off by', INCONCLUSIVE),
        ("booking-service", "booking/app.py", "each.model_dump()}", "{}}", FAILED),
        ("booking-service", "booking/app.py", "type(each).__name__", "'BookTable'", FAILED),
        ("booking-service", "booking/app.py", "app = FastAPI()", "app = FastAPI(", INCONCLUSIVE),
        ("booking-service", "booking/app.py", '"says": ', '"says": 1 / 0 or ', FAILED),
        ("booking-service", "cases/booking.fc.yaml", "{number: 12}", "{number: 13}", FAILED),
        ("mcp-server", "cases/jukebox.fc.yaml", "{percent: 30}", "{percent: 31}", FAILED),
        ("two-local-models", "cases/home.json", "Lock a door.", "Bolt a door.", INCONCLUSIVE),
        ("two-local-models", "cases/home.fc.yaml", "degrees: 23, room", "degrees: 24, room", INCONCLUSIVE),
        ("two-local-models", "cases/home.fc.yaml", "{$approx: 21, within: 1}", "25", FAILED),
    ],
)
def test_what_breaks_it_turns_it_red(  # each line is one that a README names
    name: str, file: str, old: str, new: str, status: int, copies: Copies
) -> None:
    copy = copies(name)
    with copy.changed(file, old, new):
        done = copy.run("pytest")
    assert done.returncode == status, done.stdout


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("support-agent", "support/tools.py", '"""Cancel an order."""', '"""Call an order off."""'),
        ("mcp-server", "jukebox/server.py", '"""Play a song now."""', '"""Start a song."""'),
    ],
)
def test_a_changed_description_is_found_where_the_tools_are_asked_for(
    name: str, file: str, old: str, new: str, copies: Copies
) -> None:
    copy = copies(name)
    (lock,) = (copy.folder / "cases").glob("*.lock.json")
    with copy.changed(file, old, new):
        diff = copy.run("fcall tools diff")
        assert diff.returncode == FAILED, diff.stdout
        assert "its description changed" in diff.stdout
        locked = lock.read_bytes()
        assert copy.run("fcall tools lock").returncode == OK
        done = copy.run("pytest")
        lock.write_bytes(locked)
    assert done.returncode == INCONCLUSIVE, done.stdout
