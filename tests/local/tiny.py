"""A model that fits anywhere: random weights, and a tokenizer that is a real one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

SPECIAL = (
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>", "</tool_call>"),
    *("<|python_tag|>", "<|tool_call|>", "[TOOL_CALLS]"),
)
TEMPLATE = """\
{%- if tools %}<|im_start|>system
{{ tools | tojson }}<|im_end|>
{% endif -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif -%}
"""
_TEXT = (
    'Will it rain in Oslo tomorrow? What is the weather in Paris, Rome and Berlin? [{"name": "get_weather", '
    '"arguments": {"city": "Oslo"}}] {"type": "object", "properties": {"city": {"type": "string"}}} system user '
)
READS = 512


def write_tiny(folder: Path, seed: int = 0) -> Path:
    """Write a Llama of two layers. Its answers are nonsense, and always the same."""
    write_tokenizer(folder)
    torch, transformers = import_module("torch"), import_module("transformers")
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(transformers.AutoTokenizer.from_pretrained(folder)),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=READS,
        # Large enough for answers to depend on what was asked.
        initializer_range=0.4,
        eos_token_id=1,
        bos_token_id=0,
        tie_word_embeddings=False,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def write_tokenizer(folder: Path) -> None:
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    pairs = import_module("tokenizers.pre_tokenizers").ByteLevel(add_prefix_space=False)
    made: Any = tokenizers.Tokenizer(import_module("tokenizers.models").BPE())
    made.pre_tokenizer = pairs
    made.decoder = import_module("tokenizers.decoders").ByteLevel()
    trainer = import_module("tokenizers.trainers").BpeTrainer(
        vocab_size=400, special_tokens=list(SPECIAL), initial_alphabet=pairs.alphabet(), show_progress=False
    )
    made.train_from_iterator([_TEXT], trainer)
    begin, end, fill = SPECIAL[:3]
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=begin, eos_token=end, pad_token=fill
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
