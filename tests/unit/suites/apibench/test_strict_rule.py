from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.suites.apibench.apis import ApiEntry
from pytest_fcall.suites.apibench.grades import STRICT_SCORES, GradedAnswer
from pytest_fcall.suites.apibench.strict_rule import StrictRule
from tests.unit.suites.apibench.hubs import FACES, TENSORFLOW, TORCH, api

RIGHT = TORCH[0].call


def judged(answer: str, apis: Sequence[ApiEntry] = TORCH, domain: str = "Vision", right: str = RIGHT) -> GradedAnswer:
    return StrictRule(apis)(answer, domain, right)


@pytest.mark.parametrize(
    "code",
    [
        "torch.hub.load('zoo/vision', 'tinynet')",
        "torch.hub.load(model='tinynet', repo_or_dir='zoo/vision', pretrained=False)",
        "model = torch.hub.load('zoo/vision:v0.10', 'tinynet', pretrained=True)",
        r"\"torch.hub.load(\"zoo/vision\", \"tinynet\")\"",
        "'torch.hub.load('zoo/vision', 'tinynet')",
        "import torch\\nmodel = torch.hub.load('zoo/vision', 'tinynet').eval()",
    ],
)
def test_the_right_api_is_exact_however_it_is_written(code: str) -> None:
    for answer in (
        f"<<<api_call>>>: {code}\n<<<api_provider>>>: PyTorch",
        f"{{'api_call': {code}, 'api_provider': 'P'}}",
    ):
        assert (judged(answer).grade, judged(answer).exact) == ("correct", True)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("torch.hub.load('zoo/vision', 'tinynetx')", "hallucination"),
        ("torch.hub.load('zoo/vision')", "hallucination"),
        ("other.load('zoo/vision', 'tinynet')", "hallucination"),
        ("load('zoo/vision', 'tinynet')", "hallucination"),
        ("torch.hub.load('zoo/speech', 'listener')", "wrong"),
        ("torch.hub.load('zoo/vision', 'tinynet'", "unparsable"),
        ("use zoo/vision and tinynet", "unparsable"),
        ("", "unparsable"),
    ],
)
def test_what_is_not_called_is_no_match(code: str, word: str) -> None:
    assert judged(f"api_call: {code}") == judged(f"api_call: {code}, api_provider: P")
    assert (judged(f"api_call: {code}").grade, judged(f"api_call: {code}").exact) == (word, False)


def test_another_api_of_the_domain_is_right_and_not_exact() -> None:
    apis = (*TORCH, api("Vision", "torch.hub.load(repo_or_dir='zoo/vision', model='bignet')"))
    found = judged("api_call: torch.hub.load('zoo/vision', 'bignet')", apis)
    assert (found.grade, found.exact) == ("correct", False)


def test_an_api_that_stands_twice_is_right_in_both_domains() -> None:
    apis = (api("A", "f('x')"), api("B", "f('x')"))
    assert [judged("f('x')", apis, domain, "g()").grade for domain in "ABC"] == ["correct", "correct", "wrong"]


def test_a_value_may_be_given_by_any_name() -> None:
    found = judged("hub.load(handle='https://hub.test/words/1')", TENSORFLOW, "Embedding", TENSORFLOW[0].call)
    assert found.exact


def test_values_in_the_data_base_may_lack_quotes() -> None:
    assert judged("DepthModel.from_pretrained('zoo/deep')", FACES, "Depth", FACES[2].call).exact


MIXED = api("Vision", "torch.hub.load(repo_or_dir='zoo/mixed', 'first', model='one')")


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("torch.hub.load('zoo/mixed', 'first', 'one')", "correct"),
        ("torch.hub.load('zoo/mixed', 'first', model='one', pretrained=True)", "correct"),
        ("torch.hub.load('zoo/mixed', 'first', 'two')", "hallucination"),
        ("hub.load('zoo/mixed', 'first', 'one')", "hallucination"),
    ],
)
def test_of_a_call_that_is_no_python_the_quoted_texts_count(code: str, word: str) -> None:
    assert judged(code, (*TORCH, MIXED), "Vision", MIXED.call).grade == word


def test_a_call_of_which_little_can_be_read_fits_nothing() -> None:
    broken = api("Vision", "pipeline('text-to-image', model=zoo/deep-1.4)")
    other = api("Vision", "pipeline('speech', model=zoo/1x)")
    assert judged("pipeline('text-to-image', 'x')", (broken, other), "Vision", other.call).grade == "hallucination"


def test_a_module_may_stand_before_the_name() -> None:
    assert judged("transformers.AutoModel.from_pretrained('zoo/same')", FACES, "Similarity", FACES[1].call).exact


def test_the_arguments_that_matter_are_a_matter_of_choice() -> None:
    answer = "pipeline('translation', model='zoo/other')"
    assert StrictRule(FACES)(answer, "Translation", FACES[0].call).grade == "hallucination"
    assert StrictRule(FACES, {"pipeline": ()})(answer, "Translation", FACES[0].call).exact


@given(st.text(st.characters(), max_size=200))
def test_any_answer_gets_a_word(answer: str) -> None:
    assert judged(answer).grade in {"correct", "wrong", "hallucination", "unparsable"}


HOSTILE = ["f(" * 500_000, "f(" * 500 + ")" * 500, "api_call:" * 5_000, "\\" * 50_000, "a." * 50_000]


@pytest.mark.parametrize("answer", HOSTILE)
def test_hostile_answers_get_a_word(answer: str) -> None:
    assert judged(answer).grade in {"hallucination", "unparsable"}


@pytest.mark.parametrize(
    ("found", "true"),
    [
        (GradedAnswer("correct", exact=True), {"domain_accuracy", "exact_accuracy"}),
        (GradedAnswer("correct"), {"domain_accuracy"}),
        (GradedAnswer("wrong"), {"wrong"}),
        (GradedAnswer("hallucination"), {"hallucination"}),
        (GradedAnswer("unparsable"), {"unparsable"}),
    ],
)
def test_an_answer_counts_in_every_score(found: GradedAnswer, true: set[str]) -> None:
    assert found.score_parts(STRICT_SCORES) == {name: (float(name in true), 1.0) for name in STRICT_SCORES}


LOADERS = (
    ApiEntry("A", "load(name='x', size=1, device='cpu')", {}, checked=("name", "size")),
    ApiEntry("B", "load(name='y', size=1, device='cpu')", {}),
)


@pytest.mark.parametrize(
    ("answer", "checked", "word"),
    [
        ("load(name='x', size=1)", {}, "correct"),
        ("load('x', 1, 'gpu')", {}, "correct"),
        ("load(name='x', size=2)", {}, "hallucination"),
        ("load(name='x', size=2)", {"load": ("name",)}, "hallucination"),  # the data base goes before
        ("load(name='y', size=1)", {}, "hallucination"),
        ("load(name='y', size=2)", {"load": ("name",)}, "wrong"),
        ("load(name='y', size=2)", {"lo*": ("name",), "load": ("size",)}, "wrong"),
        ("load(name='z', size=2)", {"load": ()}, "wrong"),
    ],
)
def test_which_arguments_matter_is_said_for_each_api(
    answer: str, checked: dict[str, tuple[str, ...]], word: str
) -> None:
    assert StrictRule(LOADERS, checked)(answer, "A", LOADERS[0].call).grade == word


def test_what_matters_of_the_right_api_is_what_the_data_base_says() -> None:
    assert StrictRule(LOADERS)("load(name='x', size=1, device='gpu')", "A", LOADERS[0].call).exact
