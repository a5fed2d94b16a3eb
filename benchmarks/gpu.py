"""How fast a GPU answers, and how near that comes to what transformers can do: `python -m benchmarks.gpu`.

The model has 1.2 billion parameters, or with `--tiny` a handful, so that the script can be tried on any machine. Its
weights are random, which makes no difference to the speed. Needs the environment of `make test-local`.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

from benchmarks.local import WEATHER, questions, seconds
from pytest_fcall.backends.local.aliases import LocalModel
from pytest_fcall.backends.local.answerer import Answerer
from pytest_fcall.backends.local.assembly import make_answerer
from pytest_fcall.backends.local.prompts import ModelPrompts
from tests.local.tiny import write_tokenizer

TINY: Mapping[str, int] = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
LARGE: Mapping[str, int] = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16}
HEADS: Mapping[str, int] = {"num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128_256}
SMI = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--loop-ms=100")


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked."""

    count: int
    tokens: int
    """Written for each question."""
    batch: int


@dataclass(slots=True)
class Watched:
    """What a GPU did meanwhile."""

    percents: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The mean, where there is a GPU to ask."""
        return f"{mean(self.percents):.0f} %" if self.percents else "-"


def write_model(folder: Path, sizes: Mapping[str, int]) -> int:
    """Write the model, and return how many parameters it has."""
    torch, transformers = import_module("torch"), import_module("transformers")
    write_tokenizer(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        **HEADS, **sizes, max_position_embeddings=8192, eos_token_id=1, bos_token_id=0, tie_word_embeddings=True
    )
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    model.save_pretrained(folder)
    return int(model.num_parameters())


@contextmanager
def watching() -> Iterator[Watched]:
    """Ask the driver how busy the GPU is, ten times a second."""
    watched = Watched()
    with TemporaryFile("w+", encoding="ascii") as said, _driver(said) as driver:
        yield watched
        if driver:
            driver.terminate()
            driver.wait()
            said.seek(0)
            watched.percents += [int(line) for line in said.read().split() if line.isdigit()]


@contextmanager
def _driver(said: IO[str]) -> Iterator[subprocess.Popen[bytes] | None]:
    try:
        process = subprocess.Popen(SMI, stdout=said, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        yield None
        return
    with process:
        try:
            yield process
        finally:
            process.kill()


def plain(folder: Path, device: str, asked: Sequence[str], load: Load) -> float:
    """A loop of ten lines over `generate`, as people write it who know that all answers are equally long."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto", device_map=device)

    def loop(texts: Sequence[str], tokens: int) -> None:
        for first in range(0, len(texts), load.batch):
            batch = tokenizer(list(texts[first : first + load.batch]), padding=True, return_tensors="pt").to(device)
            batch.pop("token_type_ids", None)
            with torch.inference_mode():
                written = model.generate(**batch, max_new_tokens=tokens, do_sample=False, pad_token_id=2)
            tokenizer.batch_decode(written)

    loop(asked[:1], 2)
    start = time.perf_counter()
    loop(asked, load.tokens)
    return time.perf_counter() - start


def _prompts(folder: Path) -> ModelPrompts:
    return ModelPrompts(LocalModel(str(folder)), import_module("transformers").AutoTokenizer.from_pretrained(folder))


def table(folder: Path, device: str, load: Load) -> None:
    """Print a line for each way of asking."""
    torch = import_module("torch")

    def model(engine: str) -> Answerer:
        return make_answerer({"name": str(folder), "root": "/", "device": device, "dtype": "auto", "engine": engine})

    asked = questions((WEATHER,), load.count, load.tokens)
    texts = list(map(_prompts(folder).prompt_text, asked))
    few = asked[: max(1, load.count // 16)]
    ways: Mapping[str, tuple[int, Callable[[], float]]] = {
        "a plain loop over `generate`": (load.count, lambda: plain(folder, device, texts, load)),
        "one by one": (len(few), lambda: seconds(model("static"), few, 1)),
        f"static, {load.batch} at once": (load.count, lambda: seconds(model("static"), asked, load.batch)),
        f"continuous, {load.batch} at once": (load.count, lambda: seconds(model("continuous"), asked, load.batch)),
    }
    print("| way | tokens a second | of the plain loop | GPU busy | peak GB |\n|---|---|---|---|---|")
    base = 0.0
    for way, (count, measure) in ways.items():
        if device != "cpu":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        with watching() as watched:
            speed = count * load.tokens / measure()
        base = base or speed
        peak = f"{torch.cuda.max_memory_allocated() / 1e9:.1f}" if device != "cpu" else "-"
        print(f"| {way} | {speed:,.0f} | {speed / base:.2f} | {watched.text} | {peak} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a model and a load for any machine")
    parser.add_argument("--batch", type=int, default=32)
    given = parser.parse_args()
    torch: Any = import_module("torch")
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    load = Load(16, 8, 4) if given.tiny else Load(8 * given.batch, 128, given.batch)
    with TemporaryDirectory() as folder:
        parameters = write_model(Path(folder), TINY if given.tiny else LARGE)
        name = torch.cuda.get_device_name() if device != "cpu" else "a processor"
        versions = f"torch {torch.__version__}, transformers {import_module('transformers').__version__}"
        print(f"{parameters / 1e9:.2f} billion parameters in bfloat16 on {name}, {versions}")
        print(f"{load.count} questions, {load.tokens} tokens each\n")
        table(Path(folder), device, load)


if __name__ == "__main__":
    main()
