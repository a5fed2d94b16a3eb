from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.apibench.documented_figures import figure_text, read_figures, same_data


def accuracies(performance: Json, *names: str) -> list[str]:
    figures = read_figures({"performance": performance}, names).accuracies
    return [figure_text(each.metric, each.value, each.data) for each in figures]


@pytest.mark.parametrize(
    ("performance", "read"),
    [
        ({"dataset": "Zoo", "accuracy": 0.78}, ["78 % accuracy on Zoo"]),
        ({"dataset": "Zoo", "accuracy": "71.9%"}, ["71.9 % accuracy on Zoo"]),
        ({"dataset": "Zoo", "accuracy": {"top_1": 74.5, "top_5": 91}}, ["74.5 % top-1 on Zoo", "91 % top-5 on Zoo"]),
        ({"dataset": "Zoo", "accuracy": {"m": {"Top-1 error": "25.35"}}}, ["74.65 % top-1 on Zoo"]),
        # The right answer is among five at least as often as it is the first, so these are errors.
        ({"dataset": "Zoo", "accuracy": {"top-1": 22.4, "top-5": 6}}, ["77.6 % top-1 on Zoo", "94 % top-5 on Zoo"]),
        ({"dataset": "Zoo", "accuracy": {"model": "M", "top-1": 81.9}}, ["81.9 % top-1 on Zoo"]),
        ([{"dataset": "Zoo", "accuracy": {"model": "M", "top1": "78.2"}}], ["78.2 % top-1 on Zoo"]),
        ({"dataset": [{"name": "A", "F1": 1}, {"name": "B", "F1": 0.5}]}, ["100 % F1 on A", "50 % F1 on B"]),
        ({"dataset": {"A": {"accuracy": 44}, "B": {"F1": 50}}}, ["44 % accuracy on A", "50 % F1 on B"]),
        ({"dataset": [{"model_structure": "m", "accuracy": 75.3}]}, ["75.3 % accuracy"]),
        ({"dataset": "Z", "accuracy": "Top-1 Accuracy: 71%, Top-5: 90.1%"}, ["71 % top-1 on Z", "90.1 % top-5 on Z"]),
        ({"dataset": "A, B", "accuracy": "86.9% on A, 78% (B)"}, ["86.9 % accuracy on A", "78 % accuracy on B"]),
        ({"dataset": "Zoo", "accuracy": "mAP of 0.22"}, ["22 % mAP on Zoo"]),
        ({"dataset": "Zoo", "accuracy": {"BLEU": 0.9, "chr-F": 0.5}}, ["0.9 BLEU on Zoo"]),
    ],
)
def test_an_accuracy_is_read_with_its_data_set(performance: Json, read: list[str]) -> None:
    assert accuracies(performance) == read


@pytest.mark.parametrize(
    "accuracy",
    [
        *("Not provided", "", None, True, "20 dimensions", "0.78 (Spearman correlation)", "80-90%", "PSNR: 29.8 dB"),
        *(
            "Pearson correlation coefficient of 0.803",
            "85.1% Pearson correlation",
            "+1.6% in VQA score",
            430,
            -1,
            "0.9%",
        ),
        *("24.0% improvement over finetuned SOTA", "85% on A, or so", "95.8/90.8", "500.00 +/- 0.00", 1e300),
        *(
            {"Loss": 0.3, "Delta1": 0.5, "R2": 0.9, "Rouge1": 27.5},
            {"top-1 error": 0.25},
            {"FID": 3.1},
            ["x"],
            {"a": {"b": 1}},
        ),
    ],
)
def test_what_is_no_accuracy_for_certain_is_left_out(accuracy: Json) -> None:
    assert accuracies({"dataset": "Zoo", "accuracy": accuracy}) == []


@pytest.mark.parametrize("performance", [None, "fast", [], {}, {"accuracy": []}, 7])
def test_a_document_may_say_nothing(performance: Json) -> None:
    assert accuracies(performance) == []
    assert read_figures({}).parameters == ()


def test_of_several_models_the_one_that_is_called_counts() -> None:
    several: Json = {"dataset": "Zoo", "accuracy": {"Net-50": {"top-1": 80}, "Net-101": {"top-1": 82}}}
    assert accuracies(several) == ["80 % top-1 on Zoo", "82 % top-1 on Zoo"]
    assert accuracies(several, "zoo/nets", "net101") == ["82 % top-1 on Zoo"]
    assert accuracies({"dataset": "Zoo", "accuracy": {"Net-50": 81}}, "net50") == ["81 % accuracy on Zoo"]


@pytest.mark.parametrize(
    ("document", "counts"),
    [
        ({"performance": {"Params (M)": 32.45}}, (32_450_000,)),
        ({"performance": {"parameters": "25.6M"}}, (25_600_000,)),
        ({"performance": {"number of parameters": 559_214_592}}, (559_214_592,)),
        ({"performance": {"params": 34.57}}, ()),  # millions, or billions
        ({"performance": {"params": True}}, ()),
        ({"performance": {"params": "many"}}, ()),
        ({"description": "A model with 220 million parameters."}, (220_000_000,)),
        ({"description": "The model has 7,069,016,064 parameters."}, (7_069_016_064,)),
        ({"description": "The total trainable parameters: 1.5B trainable parameters."}, (1_500_000_000,)),
        ({"description": "It has 40% less parameters, 50x fewer parameters."}, ()),
        ({"description": "Models ranging from 125M to 175B parameters."}, ()),
        ({"description": "Made for OPT (a model with 2.7 billion parameters)."}, ()),
        ({"description": "Smaller than the original 9.4B parameter model."}, ()),
        ({"description": "86M backbone parameters, and 98M parameters in the embedding."}, ()),
        ({"description": "It takes 3 parameters."}, ()),
        ({"description": ["5M parameters"]}, ()),
        ({"description": "5M parameters", "performance": {"params": "6M"}}, (6_000_000,)),
    ],
)
def test_parameters_are_those_of_the_whole_model(document: dict[str, Json], counts: tuple[int, ...]) -> None:
    assert read_figures(document).parameters == counts


@pytest.mark.parametrize(
    ("wanted", "data", "same"),
    [
        ("ImageNet", "IMAGENET", True),
        ("ImageNet", "imagenet-1k", True),
        ("COCO", "COCO val2017", True),
        ("COCO 2017", "COCO 2017 validation", True),
        ("ImageNet", "ImageNet-21k", False),
        ("SQuAD", "squad_v2", False),
        ("ImageNet", "ImageNet Real", False),
        ("ImageNet", "", False),
        ("STS benchmark", "STS Benchmark", True),
    ],
)
def test_splits_and_years_make_no_other_data_set(wanted: str, data: str, same: bool) -> None:
    assert same_data(wanted, data) is same


def test_hostile_documents_are_read_in_no_time() -> None:
    deep: Json = 1
    for _ in range(200):
        deep = {"accuracy": [deep]}
    for performance in (
        deep,
        {"accuracy": "9" * 100_000},
        {"accuracy": "a of " * 9_999},
        {"accuracy": "1%," * 9_999},
    ):
        read_figures({"performance": performance, "description": "1 " * 20_000 + "(5M parameters" * 2_000})
