from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_fcall.core.extension import Figure, Suite, figure_of
from pytest_fcall.reporting.results import CaseScore, Result
from pytest_fcall.session.result.gates import Gates, gate_verdict_lines
from pytest_fcall.session.result.suite_scores import score_lines, score_names, short_score_lines, unknown_suite_lines
from pytest_fcall.suites.builtin import SUITES
from pytest_fcall.tracking.gates import parse_gates


class Quiz:
    """Tells the success in each category, and in all."""

    def cases(self, *_: object) -> Sequence[object]:
        return ()

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> list[Figure]:
        complete = {"chess", "music"} <= tallies.keys()
        whole = figure_of("overall", tallies.values()) if complete else Figure("overall", None)
        return [whole, *(figure_of("success", [tally], name) for name, tally in tallies.items())]

    def figure_names(self) -> Sequence[str]:
        return ("success", "overall")


class Pub(Quiz):
    """Another quiz."""


SUITES_HERE: dict[str, Suite] = {"quiz": Quiz(), "pub": Pub()}  # type: ignore[dict-item]  # it has no cases


def asked(right: bool, category: str, suite: str = "quiz", model: str = "a", **beside: object) -> Result:
    status = "passed" if right else "failed"
    return Result(f"{suite}.fc.yaml::{category}", category, model, status, category, suite=suite, **beside)  # type: ignore[arg-type]


RUN = (asked(True, "chess"), asked(False, "music"), asked(True, "music", model="b"))


def judged(text: str, results: Sequence[Result] = RUN) -> str:
    gates = Gates(parse_gates(text, lambda: score_names(SUITES_HERE)))
    (line,) = gate_verdict_lines(gates.judge(results, SUITES_HERE))
    return line.removeprefix(f"gate {text}").strip()


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("overall>=0.6", "66.7 %  holds"),
        ("overall[quiz]>=0.7", "66.7 %  does not hold"),
        ("overall[a]>=0.5", "50.0 %  holds"),
        ("overall[b]>=0.5", "-  inconclusive: not all that it is made of was asked"),
        ("success[music]<=50%", "50.0 %  holds"),
        ("success>=0.5", "-  inconclusive: there are several, such as success[chess]"),
        ("success[pub]>=0.5", "-  inconclusive: no case has this score"),
        ("accuracy[quiz]>=0.6", "66.7 %  holds"),
    ],
)
def test_what_a_suite_tells_is_a_figure_of_gates(gate: str, said: str) -> None:
    assert judged(gate) == said


def test_of_two_suites_one_is_to_be_named() -> None:
    both = (*RUN, asked(True, "chess", "pub"), asked(True, "music", "pub"))
    assert judged("overall>=0.5", both) == "-  inconclusive: there are several, such as overall[quiz]"
    assert judged("overall[pub]>=1", both) == "100.0 %  holds"


def test_a_reply_that_is_missing_leaves_a_suite_s_figure_open() -> None:
    missing = Result("quiz.fc.yaml::x", "x", "a", "skipped", "chess", suite="quiz", no_reply=True)
    assert judged("overall>=0.6", (*RUN, missing)) == "66.7 %  inconclusive: 1 reply missing"
    assert judged("overall[pub]>=0.6", (missing,)) == "-  inconclusive: no case has this score"


BOTH = tuple(CaseScore(tag, "api_f1", (1, 1, 2)) for tag in ("*", "smoke"))
SCORED = (
    Result("a::x", "x", "a", "failed", tags=("smoke",), scores=BOTH),
    Result("a::y", "y", "a", "passed", scores=(CaseScore("*", "api_f1", (2, 2, 2)),)),
)


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("api_f1>=0.8", "85.7 %  holds"),
        ("api_f1[*]>=0.8", "85.7 %  holds"),
        ("api_f1[smoke]>=0.8", "66.7 %  does not hold"),
        ("api_f1[other]>=0.8", "-  inconclusive: no case has this score"),
        ("lcs(executable)>=0.8", "-  inconclusive: no case has this score"),
    ],
)
def test_a_score_beside_verdicts_is_a_figure_and_counts_each_case_once(gate: str, said: str) -> None:
    assert judged(gate, SCORED) == said


def test_a_case_without_a_reply_leaves_its_scores_open() -> None:
    missing = Result("a::z", "z", "a", "error", no_reply=True, scores=(CaseScore("*", "api_f1"),))
    assert judged("api_f1>=0.8", (*SCORED, missing)) == "85.7 %  inconclusive: 1 reply missing"
    assert judged("api_f1[smoke]<=0.8", (*SCORED, missing)) == "66.7 %  holds"


def test_tables_of_suites_come_before_scores_beside_verdicts() -> None:
    lines = score_lines(SUITES_HERE, (*RUN, *SCORED), 100)
    assert [line.split()[0] for line in lines] == [
        "quiz",
        "overall",
        "success[chess]",
        "success[music]",
        "model",
        "a",
        "smoke",
    ]


def test_a_suite_that_nobody_knows_here_is_named() -> None:
    assert score_lines(SUITES, RUN, 100) == []
    assert unknown_suite_lines(SUITES, RUN) == ["quiz: only the project that adds this suite can compute its scores"]
    assert unknown_suite_lines(SUITES_HERE, RUN) == []


def test_averages_of_several_models_together_are_made_of_scores_of_all() -> None:
    sets = [
        Result(
            f"a::{model}",
            "x",
            model,
            "failed",
            "seq_sgd",
            suite="api_blend",
            scores=(CaseScore("seq_sgd", "lcs_f1", (p, p, 1)),),
        )
        for model, p in (("a", 1.0), ("b", 0.0))
    ]
    gates = Gates(parse_gates("weighted_lcs_f1>=0.5", lambda: score_names(SUITES)))
    (line,) = gate_verdict_lines(gates.judge(sets, SUITES))
    assert line.endswith("50.0 %  holds")


def test_a_run_that_says_little_has_a_line_for_each_suite_and_model() -> None:
    assert short_score_lines(SUITES_HERE, [asked(True, "chess"), asked(False, "music")], 80) == [
        "quiz: overall 50.00 %, success[chess] 100.00 %, success[music] 0.00 %"
    ]
    assert short_score_lines(SUITES_HERE, RUN, 80) == [
        "quiz, a: overall 50.00 %, success[chess] 100.00 %, success[music] 0.00 %",
        "quiz, b: success[music] 100.00 %",
    ]


def test_a_suite_of_which_nothing_was_judged_has_no_line() -> None:
    error = Result("quiz.fc.yaml::chess", "chess", "a", "error", "chess", suite="quiz")
    assert short_score_lines(SUITES_HERE, [error], 80) == []


class Rounds(Quiz):
    """Tells in how many rounds, of several cases each, all is right."""

    def case_figures(self, tallies: Mapping[str, tuple[int, int]]) -> list[Figure]:
        rounds: dict[str, bool] = {}
        for name, (right, number) in tallies.items():
            rounds[name[0]] = rounds.get(name[0], True) and right == number
        return [figure_of("rounds", [(sum(rounds.values()), len(rounds))])]


def test_a_suite_can_tell_what_single_cases_come_to() -> None:
    results = [asked(right, "chess")._replace(case=name) for name, right in (("a1", True), ("a2", False), ("b1", True))]
    lines = score_lines({"quiz": Rounds()}, results, 80)  # type: ignore[dict-item]  # it has no cases
    assert any(line.split() == ["rounds", "50.00", "%"] for line in lines), lines
