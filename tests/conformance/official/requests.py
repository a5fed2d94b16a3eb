"""Writes, a line a conversation, the requests that an official handler makes of its turns, as its library gets them.

Runs in the official environment, with `native` or `prompt`, the name of an interface, and categories as arguments. The
handlers run as they are; their libraries are stood in for by classes that keep what they are given. No model answers:
each turn is asked as if nothing had been said since the one before.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.conformance.official.stand_ins import Captured, Client, stand_in

_LIBRARIES = (
    "anthropic",
    "anthropic.types",
    "boto3",
    "cohere",
    "cohere.types",
    "cohere.v2",
    "cohere.v2.types",
    "dotenv",
    "filelock",
    "google",
    "google.genai",
    "google.genai.types",
    "httpx",
    "mistralai",
    "openai",
    "openai.types",
    "openai.types.responses",
    "overrides",
    "requests",
    "tenacity",
    "tenacity.stop",
    "tqdm",
    "writerai",
)


class _Place(NamedTuple):
    module: str
    name: str
    model: str = "model"


_HANDLERS: Mapping[str, _Place] = {
    "openai": _Place("api_inference.openai_completion", "OpenAICompletionsHandler"),
    "responses": _Place("api_inference.openai_response", "OpenAIResponsesHandler"),
    "anthropic": _Place("api_inference.claude", "ClaudeHandler", "claude-sonnet-4-5-20250929"),
    "google": _Place("api_inference.gemini", "GeminiHandler"),
    "mistral": _Place("api_inference.mistral", "MistralHandler"),
    "cohere": _Place("api_inference.cohere", "CohereHandler"),
    "amazon": _Place("api_inference.nova", "NovaHandler"),
    "fireworks": _Place("api_inference.fireworks", "FireworksHandler"),
    "novita": _Place("api_inference.novita", "NovitaHandler"),
    "writer": _Place("api_inference.writer", "WriterHandler"),
    "local": _Place("local_inference.qwen_fc", "QwenFCHandler"),
}


class Memory:
    """Stands for a memory, whose content is not known yet."""

    def _dump_core_memory_to_context(self) -> str:
        return "{memory_content}"


class Requests:
    """The requests of one handler, with native calls or by prompt."""

    def __init__(self, interface: str, *, native: bool) -> None:
        stand_in(_LIBRARIES)
        os.environ["GOOGLE_API_KEY"] = "none"
        place = _HANDLERS[interface]
        # The package makes folders on import, beside itself unless told otherwise.
        with TemporaryDirectory() as folder:
            os.environ["BFCL_PROJECT_ROOT"] = folder
            handler = getattr(import_module(f"bfcl_eval.model_handler.{place.module}"), place.name)
        self._handler = handler(place.model, 0.001, place.model, native)
        self._handler.client = Client()
        self._telling = import_module("bfcl_eval.model_handler.utils")
        self._words = import_module("bfcl_eval.constants.default_prompts")
        self._is_local = interface == "local"
        self._native = native

    def of(self, entry: dict[str, Any], category: str) -> Iterator[Any]:
        """Give the request of each turn; for `local` only the first, in its parts."""
        if "memory" in category:
            self._telling.add_memory_instruction_system_prompt(entry["question"], category, entry["scenario"], Memory())
        if self._is_local:
            yield self._handler._pre_query_processing_prompting(entry) | {"message": entry["question"][0]}
            return
        handler = self._handler
        said = self._begun(entry)
        for number, asked in enumerate(entry["question"]):
            new = entry.get("missed_function", {}).get(str(number))
            messages = asked if new is None else self._told(new, said, entry)
            first, later, query = (
                (handler.add_first_turn_message_FC, handler._add_next_turn_user_message_FC, handler._query_FC)
                if self._native
                else (
                    handler.add_first_turn_message_prompting,
                    handler._add_next_turn_user_message_prompting,
                    handler._query_prompting,
                )
            )
            said = (later if number else first)(said, messages)
            try:
                query(said)
            except Captured as captured:
                yield json.loads(json.dumps(captured.arguments))  # the handler goes on with the same lists

    def _begun(self, entry: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any]
        if self._native:
            made = self._handler._compile_tools(self._handler._pre_query_processing_FC({}, entry), entry)
        else:
            made = self._handler._pre_query_processing_prompting(entry)
        return made

    def _told(self, new: list[Any], said: dict[str, Any], entry: dict[str, Any]) -> list[dict[str, Any]]:
        """Tell of new functions."""
        if self._native:
            entry["function"].extend(new)
            self._handler._compile_tools(said, entry)
            text = self._words.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
        else:
            text = self._words.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING.format(functions=new)
        return [{"role": "user", "content": text}]


def main() -> None:
    """Print a JSON object for each case: its id, and the requests of its turns."""
    mode, interface, *categories = sys.argv[1:]
    requests = Requests(interface, native=mode == "native")
    utils = import_module("bfcl_eval.utils")
    vars(utils)["_get_file_lock"] = lambda _: nullcontext()
    for category in categories:
        for entry in utils.load_dataset_entry(category):
            made = {"id": entry["id"], "requests": [*requests.of(entry, category)]}
            sys.stdout.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
