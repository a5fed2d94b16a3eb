from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.suites.apibench.apis import ApiEntry
from pytest_fcall.suites.apibench.files import HUBS
from pytest_fcall.suites.apibench.original_rule import NoParser, OriginalRule, installed_parser, original_parser
from tests.unit.suites.apibench.hubs import FACES, TENSORFLOW, TORCH, api


def judged(hub: str, apis: Sequence[ApiEntry], code: str, domain: str) -> str:
    return OriginalRule(HUBS[hub], apis, installed_parser())(f"api_call: {code}", domain)


@pytest.mark.parametrize(
    "code",
    [
        "torch.hub.load('zoo/vision', 'tinynet')",
        "torch.hub.load(repo_or_dir='zoo/vision', model='tinynet', pretrained=False)",
        "model = torch.hub.load('zoo/vision:v1', 'tinynet', pretrained=True)",
        "torch.hub.load('zoo/vision', 'tinynetx')",
        "('zoo/vision and tinynet')",
    ],
)
def test_torchhub_looks_for_repository_and_model_anywhere_in_the_call(code: str) -> None:
    assert judged("torchhub", TORCH, code, "Vision") == "correct"
    assert judged("torchhub", TORCH, code, "Speech") == "wrong"


@pytest.mark.parametrize(
    "code",
    ["torch.hub.load('zoo/vision', 'listener')", "torch.hub.load('zoo/else', 'tinynet')", "", "))((", "no code"],
)
def test_what_is_in_no_data_base_is_a_hallucination(code: str) -> None:
    assert judged("torchhub", TORCH, code, "Vision") == "hallucination"


def test_only_torchhub_wants_the_field() -> None:
    call = "torch.hub.load('zoo/vision', 'tinynet')"
    assert OriginalRule(HUBS["torchhub"], TORCH, installed_parser())(call, "Vision") == "wrong"
    assert OriginalRule(HUBS["huggingface"], TORCH[:1], installed_parser())(call, "Vision") == "hallucination"
    assert OriginalRule(HUBS["tensorflowhub"], TENSORFLOW, installed_parser())(TENSORFLOW[0].call, "Embedding") == (
        "correct"
    )


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("hub.load('https://hub.test/words/1')", "correct"),
        ("hub.load(handle='https://hub.test/words/1', x=2)", "correct"),
        ("hub.load('https://hub.test/names/2')", "wrong"),
        ("hub.load('https://hub.test/birds/4')", "hallucination"),
        ("hub.KerasLayer('https://hub.test/birds/4')", "wrong"),
    ],
)
def test_tensorflow_hub_compares_values_whatever_their_names(code: str, word: str) -> None:
    assert judged("tensorflowhub", TENSORFLOW, code, "Embedding") == word


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("pipeline('translation', model='zoo/t-small')", "correct"),
        ("pipeline('translation')", "hallucination"),
        ("pipeline(task='translation', model='zoo/t-small-2')", "correct"),
        ("AutoModel.from_pretrained('zoo/same')", "wrong"),
        ("load_learner()", "hallucination"),
    ],
)
def test_hugging_face_compares_all_values(code: str, word: str) -> None:
    assert judged("huggingface", FACES, code, "Translation") == word


def test_of_two_calls_in_an_answer_the_last_is_compared() -> None:
    both = "hub.load('https://hub.test/words/1')\nhub.load('https://hub.test/names/2')"
    assert judged("tensorflowhub", TENSORFLOW, both, "Naming") == "correct"


def test_of_several_entries_that_fit_the_first_counts() -> None:
    apis = (api("One", "f('x')"), api("Two", "f('xy')"))
    assert judged("huggingface", apis, "f('xy')", "One") == "correct"


@given(st.text(st.characters(), max_size=200), st.sampled_from(list(HUBS)))
def test_any_answer_gets_a_word(answer: str, hub: str) -> None:
    rule = OriginalRule(HUBS[hub], (*TORCH, *TENSORFLOW, *FACES), installed_parser())
    assert rule(answer, "Vision") in {"correct", "wrong", "hallucination"}


@pytest.mark.parametrize("answer", ["(" * 20_000, "f(" * 5_000 + "'x'", "\0", "\ud800 f('x')", "'" * 3_001])
def test_hostile_answers_get_a_word(answer: str) -> None:
    assert judged("huggingface", FACES, answer, "Depth") == "hallucination"


def test_a_folder_without_the_parser_is_said_how_to_fill(tmp_path: Path) -> None:
    with pytest.raises(NoParser, match=r"pip install --no-deps --target .* tree-sitter==0\.20\.1 tree-sitter-lang"):
        original_parser(tmp_path)


def test_a_folder_with_something_else_is_no_parser(tmp_path: Path) -> None:
    for name in ("tree_sitter/binding.so", "tree_sitter_languages/languages.so"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"no library")
    with pytest.raises(NoParser, match="does not work here"):
        original_parser(tmp_path)
