"""A worker of its own: `python -m tests.unit.backends.local.client FOLDER TEXT…`.

It says each answer in a line of JSON, then its modules, and stays until its stdin ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.unit.backends.local.asking import backend, request


async def ask(folder: str, *texts: str) -> None:
    asked = backend(Path(folder))
    for text in texts:
        reply = await asked.complete(request(text))
        sys.stdout.write(f"{json.dumps([reply.text, reply.engine['pid']])}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{json.dumps(list(sys.modules))}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await asked.close()


if __name__ == "__main__":
    asyncio.run(ask(*sys.argv[1:]))
