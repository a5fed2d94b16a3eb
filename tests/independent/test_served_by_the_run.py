"""A server that others wrote, started and stopped by the run that asks it."""

from __future__ import annotations

import json

import pytest

from tests.independent.project import CASES, HEAD
from tests.independent.server import ENVIRONMENT, MODEL, READY

pytestmark = pytest.mark.skipif(not READY.exists(), reason="no independent server is installed: make test-servers")

SERVE = (
    "env HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 {program} serve {model} "
    "--device=cpu --dtype=float32 --host=127.0.0.1 --port={{port}}"
)


def test_replies_come_from_a_server_that_the_run_has_started(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve = SERVE.format(program=ENVIRONMENT / "bin/transformers", model=ENVIRONMENT / "models" / MODEL)
    (pytester.path / "weather.fc.yaml").write_text(HEAD + CASES, encoding="utf-8")
    entry = {"model": f"openai:{ENVIRONMENT / 'models' / MODEL}", "serve": serve, "max_tokens": 8}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items())
    (pytester.path / "pyproject.toml").write_text(f"[tool.fcall.models.own]\n{lines}", encoding="utf-8")
    monkeypatch.setenv("TMPDIR", str(pytester.path))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--fc-model=openai:own")
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed", 0) + outcomes.get("failed", 0) == 3
    assert "errors" not in outcomes
