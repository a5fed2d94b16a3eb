"""Carries out calls as the official checker does. Runs in its environment.

One JSON line in is a world with calls, `{"classes", "config", "long_context", "calls"}`; one JSON line out is what
they came to, and the state, `{"results", "state"}`.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from pytest_fcall.conversation.execution.plain_json import json_text


def main() -> None:
    execute = import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils").execute_multi_turn_func_call
    for number, line in enumerate(sys.stdin):
        asked: dict[str, Any] = json.loads(line)
        results, instances = execute(
            asked["calls"], asked["config"], asked["classes"], "model", f"entry_{number}", asked["long_context"]
        )
        state = json.loads(json_text(instances, 1 << 24))
        sys.stdout.write(json.dumps({"results": results, "state": state}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
