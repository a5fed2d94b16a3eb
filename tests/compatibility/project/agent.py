"""An app that asks a model by itself."""

import json
import os
from typing import Any
from urllib.request import Request, urlopen


def answer(request: Any) -> dict[str, Any]:
    body = {"model": "exam", "messages": request.messages, "tools": request.tools}
    address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    with urlopen(Request(address, json.dumps(body).encode(), headers)) as answered:
        message = json.load(answered)["choices"][0]["message"]
    return {"role": "assistant", "content": message["content"], "tool_calls": message.get("tool_calls")}
