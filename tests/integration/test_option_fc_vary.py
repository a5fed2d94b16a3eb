"""Variants of cases: asked beside them, and told where their verdicts flip."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pytest_fcall.tracking.run_file import read_run, run_paths
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import WEATHER
from tests.integration.exam import CASES, Exam
from tests.run_schema import faults_of_run
from tests.servers import Answer, Asked, chat

CITIES = ("Oslo", "Rome", "Paris", "Lima", "Cairo", "Quito")


def file_of(*more: str, cities: tuple[str, ...] = CITIES, case: str = "") -> str:
    """A case for each city, and what else stands in the file and in each case."""
    cases = "".join(
        f"  - id: {city}\n    prompt: Please check whether it will be warm in {city} this afternoon.\n"
        f"    expect: [{{get_weather: {{city: {city}}}}}]\n{case}"
        for city in cities
    )
    return "\n".join([WEATHER, *more, "cases:", cases])


def prompt_in(asked: Asked) -> str:
    return str(asked.json["messages"][-1]["content"])


def right(asked: Asked) -> Answer:
    """The right answer, under the names that tools and parameters have."""
    function = asked.json["tools"][0]["function"]
    (parameter, *_) = function["parameters"]["properties"]
    city = next(city for city in CITIES if city in prompt_in(asked))
    return chat(calls=[(function["name"], {parameter: city})])


def wrong(_: Asked) -> Answer:
    return chat(calls=[("get_weather", {"city": "Nowhere"})])


def answered(asked: Asked) -> Answer:
    """The right call, and then an answer in words."""
    return chat("So it is.") if asked.json["messages"][-1]["role"] == "tool" else right(asked)


def unless(fragile: Callable[[Asked], bool]) -> Callable[[Asked], Answer]:
    """A model that is right but for some questions."""
    return lambda asked: wrong(asked) if fragile(asked) else right(asked)


def is_undescribed(asked: Asked) -> bool:
    return not asked.json["tools"][0]["function"].get("description")


@pytest.fixture
def varied(exam: Exam) -> Exam:
    (exam.path / CASES).parent.mkdir(exist_ok=True)
    (exam.path / CASES).write_text(file_of(), "utf-8")
    exam.server.default = right
    return exam


def test_a_run_tells_under_which_relation_verdicts_flip_and_no_case_fails(varied: Exam) -> None:
    varied.server.default = unless(is_undescribed)

    result = varied.run("--fc-vary=no_descriptions,typos:2,tool_order")

    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(
        [
            "variants*cases*answers*to wrong*to right*flips*95 %*noise*p",
            "no_descriptions*fragile*6*6*6*0*100.0 %*0.0 %*0.0*",
            "typos*not above the noise*6*12*0*0*0.0 %*0.0 %*1.000",
            "  no_descriptions-1 of cases/exam.fc.yaml:* Oslo is wrong: wrong_value at calls?0?.args.city",
            "  and 1 more; -v lists all",
            "tool_order does not fit: it has no second tool (6 cases)",
            "variants took 30 answers, *",
        ]
    )
    assert len(varied.server.asked) == 6 * (1 + 1 + 2 + 2)


def test_flips_that_repetition_has_as_well_are_no_fragility(varied: Exam) -> None:
    count = iter(range(1000))
    varied.server.default = unless(lambda _: next(count) % 2 == 1)

    result = varied.run("--fc-vary=typos,letter_case,repetition:4", "--fc-concurrency=1")

    result.stdout.no_fnmatch_line("*fragile*")


def test_what_is_different_in_a_variant_is_shown_in_full_by_v(varied: Exam) -> None:
    varied.server.default = unless(lambda asked: "  " in prompt_in(asked).replace("\n", "  "))

    result = varied.run("--fc-vary=white_space", "-v")

    result.stdout.fnmatch_lines(["  white_space-1 of * Oslo is wrong: *", "      white space: *"])


def test_a_case_file_says_how_cases_are_varied_and_one_of_them_that_it_is_not(varied: Exam) -> None:
    text = file_of("defaults:", "  variants: [typos: 2, repetition: 3]", cities=CITIES[:2])
    (varied.path / CASES).write_text(text + "    variants: none\n", "utf-8")

    varied.run().assert_outcomes(passed=2)
    assert len(varied.server.asked) == (1 + 2 + 3) + 1

    varied.server.asked.clear()
    varied.run("--fc-record=off", "--fc-vary=off").assert_outcomes(passed=2)
    assert len(varied.server.asked) == 2

    varied.server.asked.clear()
    varied.run("--fc-record=off", "--fc-vary=typos:1").assert_outcomes(passed=2)
    assert len(varied.server.asked) == 3 + 1  # `none` holds whatever the run wants


def test_a_replay_has_the_variants_and_says_how_to_record_one_that_is_missing(varied: Exam) -> None:
    first = varied.run("--fc-vary=typos,tool_names")
    varied.server.asked.clear()

    again = varied.run("--fc-replay", "--fc-vary=typos,tool_names")
    missing = varied.run("--fc-replay", "--fc-vary=typos:2")

    assert not varied.server.asked
    table = [line for line in first.outlines if line.startswith(("typos ", "tool_names "))]
    assert [line for line in again.outlines if line.startswith(("typos ", "tool_names "))] == table
    assert missing.ret == 10
    missing.assert_outcomes(errors=6)
    missing.stdout.fnmatch_lines(["*no recorded reply of openai:exam to the variant typos-2; to ask the model: *"])
    assert "--fc-vary=typos:2" in missing.stdout.str()


def test_a_forbidden_call_in_a_variant_fails_the_case_and_nothing_excuses_it(varied: Exam) -> None:
    (varied.path / CASES).write_text(
        file_of(
            "  - {name: send_mail, parameters: {type: object, properties: {}}}",
            "defaults: {never: [send_mail]}",
            cities=("Oslo",),
            case="    xfail: never right\n",
        ),
        "utf-8",
    )
    varied.server.default = lambda asked: chat(
        calls=[("send_mail", {})] if prompt_in(asked).count("afternoon.") == 0 else [("get_weather", {"city": "Rome"})]
    )

    result = varied.run("--fc-vary=punctuation", "--fc-fail=gates", "--fc-gate=cases >= 1")

    result.assert_outcomes(failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["forbidden_call: *", "  in the variant punctuation-1, *", "  different in it: *afternoon*"]
    )


@pytest.mark.parametrize(
    ("gate", "status", "line"),
    [
        ("fragility <= 5%", 1, "gate fragility <= 5%*100.0 %  does not hold: no_descriptions flips 100.0 %"),
        by_night("fragility[no_descriptions] <= 5%", 1, "gate *does not hold*"),
        ("fragility[typos] <= 5%", 0, "gate *0.0 %  holds"),
    ],
)
def test_a_gate_bounds_how_many_verdicts_may_flip(varied: Exam, gate: str, status: int, line: str) -> None:
    varied.server.default = unless(is_undescribed)

    result = varied.run("--fc-vary=no_descriptions,typos", f"--fc-gate={gate}")

    assert result.ret == status
    result.stdout.fnmatch_lines([line])


def test_a_gate_is_undecided_by_too_few_answers_and_without_any(varied: Exam) -> None:
    (varied.path / CASES).write_text(file_of(cities=("Oslo",)), "utf-8")
    varied.server.default = unless(is_undescribed)

    result = varied.run("--fc-vary=no_descriptions", "--fc-gate=fragility <= 5%")
    without = varied.run("--fc-gate=fragility <= 5%")

    assert (result.ret, without.ret) == (10, 10)
    result.stdout.fnmatch_lines(["gate *inconclusive: too few answers to say of no_descriptions"])
    without.stdout.fnmatch_lines(["gate *inconclusive: no case was varied"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("tipos", "--fc-vary: there is no relation 'tipos'; did you mean `typos`?"),
        ("typos:0", "--fc-vary: 'typos:0' must be a relation, *"),
        ("typos:x", "--fc-vary: 'typos:x' must be a relation, *"),
    ],
)
def test_an_unknown_relation_is_a_usage_error(varied: Exam, option: str, message: str) -> None:
    result = varied.run(f"--fc-vary={option}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{message}*"])


def test_the_configuration_may_say_it_and_workers_make_the_same_variants(varied: Exam) -> None:
    varied.shop.file("pytest.ini", "[pytest]\nfc_vary = typos:2, tool_names\n")

    varied.run().assert_outcomes(passed=6)
    before = {json.dumps(asked.json, sort_keys=True) for asked in varied.server.asked}
    varied.server.asked.clear()
    result = varied.apart("-n2", "--fc-record=all")

    result.assert_outcomes(passed=6)
    assert {json.dumps(asked.json, sort_keys=True) for asked in varied.server.asked} == before
    result.stdout.fnmatch_lines(["typos * 6 *12 *"])


def test_the_file_of_a_run_has_the_verdicts_on_variants(varied: Exam) -> None:
    varied.server.default = unless(is_undescribed)
    varied.run("--fc-vary=no_descriptions")

    (path,) = run_paths(varied.path)
    found = varied.results()["Oslo"].variants

    assert not faults_of_run(path)
    assert read_run(path)
    assert found is not None
    assert (found.first, found.repeated, found.answers) == (True, (1, 1), 2)
    assert [(each.name, each.right, each.asked) for each in found.tried] == [("no_descriptions-1", 0, 1)]
    assert "tools changed: get_weather" in found.tried[0].difference


def test_repetitions_outlive_a_run_that_asks_for_none(varied: Exam) -> None:
    varied.run("--fc-vary=typos")
    varied.run()
    fcall_here(varied.path, "record", "--export", "--model", "openai:exam")
    (varied.path / ".fcall/replies.db").unlink()

    varied.run("--fc-replay", "--fc-vary=typos").assert_outcomes(passed=6)


def test_conversations_vary_as_well(varied: Exam) -> None:
    (varied.path / CASES).write_text(
        f"{WEATHER}\ncases:\n  - id: two\n    turns:\n"
        "      - user: Please check whether it is warm in Oslo.\n"
        "        expect: [{get_weather: {city: Oslo}, returns: warm}]\n"
        "      - user: And what about Rome?\n        expect: [{get_weather: {city: Rome}, returns: cold}]\n",
        "utf-8",
    )

    varied.server.default = answered

    result = varied.run("--fc-vary=tool_names,typos")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["tool_names*too few to say*1*1*0*0*", "typos*too few to say*1*1*0*0*"])


def test_an_app_has_tools_of_its_own(varied: Exam) -> None:
    varied.shop.file(
        "app.py", "def answer(request):\n    return [{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}]\n"
    )
    result = varied.shop.run("--fc-model=python:app:answer", "--fc-vary=tool_names,typos", "-k", "Oslo")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["typos*", "tool_names does not fit: an app has its own tools (1 case)"])


def test_another_package_adds_a_relation(varied: Exam) -> None:
    varied.shop.file(
        "conftest.py",
        """
        from dataclasses import replace

        from pytest_fcall.core.variants import Relation, RelationSpec, Unfit


        def shouted(case, dice, wanted):
            if "Oslo" not in case.id:
                return Unfit("it is quiet there")
            first, *others = case.turns
            (message,) = first.messages
            louder = {**message, "content": f"{wanted.options['word']}! {message['content']}"}
            return replace(case, turns=(replace(first, messages=(louder,)), *others))


        def pytest_fcall_relations(config):
            return {"shouted": Relation(RelationSpec("a shout", {"word": "text"}, ("word",)), shouted)}
        """,
    )
    (varied.path / CASES).write_text(file_of("defaults: {variants: [shouted: {word: Hey}]}"), "utf-8")

    result = varied.run()

    result.assert_outcomes(passed=6)
    assert any(prompt_in(asked).startswith("Hey! Please") for asked in varied.server.asked)
    result.stdout.fnmatch_lines(["shouted*1*1*", "shouted does not fit: it is quiet there (5 cases)"])


def test_a_dry_run_plans_variants_too(varied: Exam) -> None:
    varied.run("--fc-dry-run", "--fc-vary=typos:2").stdout.fnmatch_lines(["*30 requests*"])
    assert not varied.server.asked


def test_a_baseline_keeps_how_variants_were_judged_and_a_change_is_told(varied: Exam) -> None:
    varied.run("--fc-vary=no_descriptions", "--fc-accept")
    varied.server.default = unless(is_undescribed)
    varied.run("--fc-record=all", "--fc-accept")  # a run without variants leaves them as they are

    result = varied.run("--fc-vary=no_descriptions", "--fc-record=all")
    varied.server.default = right
    same = varied.run("--fc-vary=no_descriptions", "--fc-record=all", "-v")

    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(
        ["variants since the baseline: no_descriptions 100.0 % → 0.0 % right (6 cases, p = 0.031)"]
    )
    same.stdout.no_fnmatch_line("variants since the baseline: *")


def test_a_case_with_a_forbidden_call_in_a_variant_is_not_accepted(varied: Exam) -> None:
    text = file_of("defaults: {never: [{get_weather: {city: Nowhere}}]}", cities=("Oslo", "Rome"))
    (varied.path / CASES).write_text(text, "utf-8")
    varied.server.default = unless(lambda asked: is_undescribed(asked) and "Oslo" in prompt_in(asked))

    result = varied.run("--fc-vary=no_descriptions", "--fc-accept=all")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["accepted: 1 case, 0 unchanged", "not accepted, since a forbidden call is never excused: Oslo"]
    )


def test_reports_have_the_table(varied: Exam) -> None:
    varied.server.default = unless(is_undescribed)
    varied.run("--fc-vary=no_descriptions,typos", "--fc-report=a.html", "--fc-report=a.md", "--junit-xml=a.xml")

    page, text = ((varied.path / name).read_text("utf-8") for name in ("a.html", "a.md"))

    assert '<h2 id="variants">Variants of the same questions</h2>' in page
    assert "<b>fragile</b>" in page
    assert "tools changed: get_weather (its description changed)" in page
    fragile = "verdicts flip under <code>no&#95;descriptions</code> (100.0 % [61, 100], noise 0.0 %)"
    assert f"**Fragile**: {fragile}" in text
    assert "No fragility seen under typos" in text
    assert '"fcall_flipped" value="no_descriptions-1"' in (varied.path / "a.xml").read_text("utf-8")


def test_merged_shards_tell_what_the_whole_run_would(varied: Exam) -> None:
    varied.server.default = unless(is_undescribed)
    options = "--fc-vary=no_descriptions", "--fc-gate=fragility <= 5%"
    varied.run(*options, "--fc-shard=1/2")
    varied.run(*options, "--fc-shard=2/2")

    merged = fcall_here(varied.path, "merge", *map(str, run_paths(varied.path)))

    assert merged.returncode == 1
    assert "no_descriptions  fragile" in merged.stdout


@pytest.fixture
def written(varied: Exam) -> Exam:
    """Two cases that a model is to put differently, and that model, which turns sentences round."""
    by = varied.named("writer")
    text = file_of(f'defaults: {{variants: [paraphrase: {{by: "{by}"}}]}}', cities=("Oslo", "Rome"))
    (varied.path / CASES).write_text(text, "utf-8")

    def answer(asked: Asked) -> Answer:
        if asked.json["model"] != "writer":
            return right(asked)
        return chat(f"This afternoon: {prompt_in(asked).removeprefix('Please check whether it will be ')}")

    varied.server.default = answer
    return varied


def of_model(exam: Exam, name: str) -> list[str]:
    return [prompt_in(asked) for asked in exam.server.asked if asked.json["model"] == name]


def test_a_model_puts_a_case_differently_once_and_its_texts_are_kept(written: Exam) -> None:
    first = written.run()
    kept = written.path / "cases/__fcall__/exam.fc.yaml.texts.jsonl"
    lines = kept.read_text("utf-8").splitlines()
    again = written.run("--fc-record=all")

    first.assert_outcomes(passed=2)
    first.stdout.fnmatch_lines(["paraphrase*2*2*0*0*", f"openai:writer wrote 2 texts *: cases/__fcall__/{kept.name}"])
    assert [json.loads(line)["texts"] for line in lines] == [
        ["This afternoon: warm in Oslo this afternoon."],
        ["This afternoon: warm in Rome this afternoon."],
    ]
    assert "http" not in kept.read_text("utf-8")
    again.stdout.no_fnmatch_line("*wrote*")
    assert len(of_model(written, "writer")) == 2
    assert "This afternoon: warm in Oslo this afternoon." in of_model(written, "exam")


def test_an_edited_prompt_leaves_its_text_unused_until_a_person_wants_it_anew(written: Exam) -> None:
    written.run()
    path = written.path / CASES
    path.write_text(path.read_text("utf-8").replace("warm in Oslo", "rather warm in Oslo"), "utf-8")
    written.server.asked.clear()

    stale = written.run()
    anew = written.run("--fc-new-texts")

    stale.stdout.fnmatch_lines(["paraphrase does not fit: its text is of an earlier prompt; --fc-new-texts *(1 case)"])
    anew.stdout.fnmatch_lines(["openai:writer wrote 1 text *"])
    assert len(of_model(written, "writer")) == 1
    written.run("--fc-replay").stdout.fnmatch_lines(["paraphrase*2*2*"])


def test_a_text_that_lacks_what_the_answer_needs_is_refused(written: Exam) -> None:
    written.server.default = lambda asked: chat("Is it warm?") if asked.json["model"] == "writer" else right(asked)

    result = written.run()
    result.assert_outcomes(passed=2)

    result.stdout.fnmatch_lines(
        ["paraphrase does not fit: the text of its model lacks 'Oslo', and is not kept (1 case)*"]
    )
    assert not (written.path / "cases/__fcall__").exists()


def test_without_a_run_that_asks_no_text_is_made(written: Exam) -> None:
    written.run("--fc-vary=off")
    written.server.asked.clear()

    result = written.run("--fc-replay")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["paraphrase does not fit: no text is kept; a run that asks its model makes one *"])
    assert not written.server.asked


def test_a_relation_whose_writer_nobody_names_is_told(varied: Exam) -> None:
    result = varied.run("--fc-vary=paraphrase,typos", "-k", "Oslo")
    result.stdout.fnmatch_lines(["paraphrase does not fit: its file does not name the model that writes: * (1 case)"])


def test_workers_have_texts_written_too(written: Exam) -> None:
    result = written.apart("-n2")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["openai:writer wrote 2 texts *"])


def test_a_case_under_attack_is_not_varied(varied: Exam) -> None:
    (varied.path / CASES).write_text(
        f"{WEATHER}\ncases:\n  - id: it\n    prompt: Please check whether it is warm in Oslo.\n"
        "    inject: {goal: Tell a joke., calls: [get_weather: {city: Rome}], forms: [plain]}\n"
        "    expect: [{get_weather: {city: Oslo}, returns: {text: warm}}]\n",
        "utf-8",
    )
    varied.server.default = lambda asked: (
        chat("Warm.") if asked.json["messages"][-1]["role"] == "tool" else right(asked)
    )

    result = varied.run("--fc-vary=typos")

    result.stdout.fnmatch_lines(["typos*too few to say*1*1*"])
