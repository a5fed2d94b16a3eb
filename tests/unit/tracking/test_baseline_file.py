from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Model
from pytest_fcall.tracking.baseline_content import Baseline, UnreadableStanza, parse_baseline, write_baseline
from pytest_fcall.tracking.baseline_file import accepted_models, baseline_path, contracts_below, read_baseline
from pytest_fcall.tracking.bookkeeping import measurement_path
from pytest_fcall.tracking.contract_lines import facts_of, stanza_of_facts
from pytest_fcall.tracking.stanza import Stanza, StanzaFields, StanzaRequest
from tests.unit.tracking.stanzas import CONVERSATIONS, STANZAS

OSLO = Stanza(
    "oslo",
    valid=False,
    reasons=(("wrong_value", "calls[0].args.city"),),
    calls=(Call("get_weather", {"city": "Osló"}), Call("get_time", {"in": ["Oslo\n", 1.0]})),
    because="the tokenizer cannot spell it",
    since="2026-11-21",
    digests={"prompt": "0a1b2c3d", "system": "4e5f6a7b"},
    provenance={"date": "2026-11-21", "engine": {"model": "m-1"}},
)
PARIS = Stanza("paris in spring", valid=True, calls=())

TEXT = """\
# pytest-fcall baseline 2

oslo wrong #bf45ab54
oslo reason 1 wrong_value calls[0].args.city
oslo 1 get_weather {"city": "Osló"}
oslo 2 get_time {"in": ["Oslo\\n", 1.0]}
oslo because "the tokenizer cannot spell it"

"paris in spring" right #9af3902e
"paris in spring" no calls
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return baseline_path(tmp_path / "shop.fc.yaml", Model("local", "smollm2"))


def read(path: Path) -> Baseline:
    found = read_baseline(path)
    assert found is not None
    return found


def faults(path: Path) -> list[tuple[str, int, str]]:
    return [(fault.code, fault.location.line, fault.message) for fault in read(path).all_faults]


def test_a_contract_is_readable_in_review_and_its_cases_are_sorted(path: Path) -> None:
    write_baseline(path, [PARIS, OSLO])

    assert path.read_text("utf-8") == TEXT
    assert read(path) == Baseline({"oslo": OSLO, "paris in spring": PARIS})


def test_everything_that_a_person_reviews_has_a_line_of_its_own(path: Path) -> None:
    book = Call("book", {"id": 7})
    wire = (StanzaRequest("gpt-5.2", (book,), {"system": "0a"}), StanzaRequest("my model", None))
    write_baseline(
        path,
        [
            Stanza("app", True, calls=(), wire=wire),
            Stanza("idle", True, calls=(), wire=()),
            Stanza(
                "talk", True, calls=(book, book), steps=((1, 0), (), (1,)), results=(None, {"ok": True}), answer="B"
            ),
            Stanza("torn", False, (("truncated", ""), ("no_call", "calls")), samples=(4, 5)),
        ],
    )

    facts = [line for line in path.read_text("utf-8").splitlines()[1:] if line]
    assert [line.partition(" #")[0] for line in facts] == [
        "app right",
        "app no calls",
        "app wire 1 gpt-5.2",
        'app wire 1.1 book {"id": 7}',
        'app wire 2 "my model" unreadable',
        "idle right",
        "idle no calls",
        "idle wire none",
        "talk right",
        'talk 1.1.1 book {"id": 7}',
        "talk 1.2 no call",
        "talk 2 no reply",
        'talk 3.1.1 book {"id": 7}',
        "talk result 1.1.1 null",
        'talk result 3.1.1 {"ok": true}',
        'talk answer "B"',
        "torn wrong",
        'torn reason 1 truncated ""',
        "torn reason 2 no_call calls",
        "torn reply unreadable",
    ]


def test_how_many_answers_were_right_is_bookkeeping(path: Path) -> None:
    write_baseline(path, [OSLO._replace(samples=(2, 5))])
    contract = path.read_bytes()
    write_baseline(path, [OSLO._replace(samples=(3, 7))])

    assert path.read_bytes() == contract
    assert read(path).stanzas["oslo"].samples == (3, 7)
    measurement_path(path).unlink()
    assert read(path).stanzas["oslo"].samples is None


@given(st.lists(STANZAS | CONVERSATIONS, min_size=1, unique_by=lambda stanza: stanza.case))
def test_what_is_written_is_read_again_and_written_the_same(
    tmp_path_factory: pytest.TempPathFactory, stanzas: list[Stanza]
) -> None:
    path = tmp_path_factory.mktemp("any") / "m" / "any.accepted"
    write_baseline(path, stanzas)
    first = path.read_bytes(), measurement_path(path).read_bytes()

    assert read(path) == Baseline({stanza.case: stanza for stanza in stanzas})
    write_baseline(path, read(path).stanzas.values())
    assert (path.read_bytes(), measurement_path(path).read_bytes()) == first


@given(st.lists(STANZAS | CONVERSATIONS, min_size=2, max_size=4, unique_by=lambda stanza: stanza.case), st.randoms())
def test_the_order_of_lines_says_nothing(
    tmp_path_factory: pytest.TempPathFactory, stanzas: list[Stanza], random: Random
) -> None:
    path = tmp_path_factory.mktemp("any") / "m" / "any.accepted"
    write_baseline(path, stanzas)
    first, *others = path.read_text("utf-8").split("\n")
    random.shuffle(others)
    path.write_text("\n".join([first, *others, *others]), "utf-8", newline="")

    assert read(path) == Baseline({stanza.case: stanza for stanza in stanzas})


@given(STANZAS, STANZAS, st.randoms(use_true_random=False))
def test_whatever_a_merge_makes_of_two_answers_is_never_read_as_a_third(
    one: Stanza, other: Stanza, random: Random
) -> None:
    answers = [each._replace(case="oslo", digests={}, provenance={}, judged=False) for each in (one, other)]
    facts = [fact for answer in answers for fact in facts_of(answer)]
    kept = [f"oslo {fact}" for fact in random.sample(facts, random.randint(1, len(facts)))]

    found = parse_baseline("\n".join(["# pytest-fcall baseline 2", *kept]).encode(), Path("any.accepted"))

    assert found.all_faults or [facts_of(each) for each in found.stanzas.values()] in [
        [facts_of(each)] for each in answers
    ]


def test_without_its_bookkeeping_the_reviewed_part_is_read(path: Path) -> None:
    write_baseline(path, [OSLO])
    measurement_path(path).unlink()

    (stanza,) = read(path).stanzas.values()
    assert (stanza.reasons, stanza.calls, stanza.because) == (OSLO.reasons, OSLO.calls, OSLO.because)
    assert (stanza.since, stanza.digests, stanza.provenance) == (None, {}, {})


def test_the_bookkeeping_of_another_answer_does_not_count(path: Path) -> None:
    write_baseline(path, [OSLO])
    of_oslo = measurement_path(path).read_bytes()
    write_baseline(path, [Stanza("oslo", True, calls=())])
    measurement_path(path).write_bytes(of_oslo)

    assert read(path).stanzas["oslo"] == Stanza("oslo", True, calls=())


def test_requests_without_bookkeeping_have_no_digests(path: Path) -> None:
    stanza = Stanza("app", True, calls=(), wire=(StanzaRequest("m", (), {"system": "0a"}),))
    write_baseline(path, [stanza])
    assert read(path).stanzas["app"] == stanza
    measurement_path(path).unlink()
    assert read(path).stanzas["app"].wire == (StanzaRequest("m", ()),)


@pytest.mark.parametrize("kept", ['["m"]', "[{},{}]", '[{"digests":{"system":7}}]'])
def test_requests_with_bookkeeping_that_does_not_fit_have_no_digests(path: Path, kept: str) -> None:
    stanza = Stanza("app", True, calls=(), wire=(StanzaRequest("m", (), {"system": "0a"}),))
    write_baseline(path, [stanza])
    beside = measurement_path(path)
    damaged = re.sub(r'"wire":\[.*?\]', f'"wire":{kept}', beside.read_text("utf-8"))
    assert kept in damaged
    beside.write_text(damaged, "utf-8")

    assert read(path).stanzas["app"] == stanza._replace(wire=(StanzaRequest("m", ()),))


def test_git_is_told_how_to_merge_the_files(path: Path) -> None:
    write_baseline(path, [OSLO])
    assert "*.accepted merge=union" in (path.parent.parent / ".gitattributes").read_text("utf-8")


def test_a_file_that_is_not_there_is_no_baseline(path: Path) -> None:
    assert read_baseline(path) is None


def test_a_file_without_stanzas_is_removed(path: Path) -> None:
    write_baseline(path, [OSLO])
    write_baseline(path, [])

    assert not path.exists()
    assert not measurement_path(path).exists()


def test_files_that_differ_only_in_their_ending_have_baselines_of_their_own(tmp_path: Path) -> None:
    model = Model("local", "smollm2")

    assert baseline_path(tmp_path / "a.yaml", model) != baseline_path(tmp_path / "a.yml", model)


def test_names_of_models_become_folders_that_windows_takes(tmp_path: Path) -> None:
    path = baseline_path(tmp_path / "a.fc.yaml", Model("openai", 'Org/Model:7b?*"<>|'))

    assert not set(path.parent.name) & set('<>:"/\\|?*')
    assert path.parent.parent == tmp_path / "__fcall__"


def test_windows_line_ends_are_no_difference(path: Path) -> None:
    write_baseline(path, [PARIS, OSLO])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert read(path).stanzas == {"oslo": OSLO, "paris in spring": PARIS}


@pytest.mark.parametrize("stanza", [Stanza("big", True, calls=(Call("f", {"n": 10**5000}),)),
                                    Stanza("big", True, calls=(), provenance={"n": float("inf")})])  # fmt: skip
def test_what_json_cannot_say_leaves_the_files_as_they_are(path: Path, stanza: Stanza) -> None:
    write_baseline(path, [OSLO])
    before = path.read_bytes(), measurement_path(path).read_bytes()

    with pytest.raises(ValueError, match=r"digits|JSON"):
        write_baseline(path, [stanza])
    assert (path.read_bytes(), measurement_path(path).read_bytes()) == before
    assert len([*path.parent.iterdir()]) == 2


DAMAGE = {
    "another-format": ("baseline 2\n", "baseline 1\n", 1, "not a baseline file in the format 2"),
    "later-format": ("baseline 2\n", "baseline 3\n", 1, "a later pytest-fcall wrote it in version 3 of its format"),
    "spaced-format": ("baseline 2\n", "baseline 2 \n", 1, "not a baseline file in the format 2"),
    "no-format": ("# pytest-fcall baseline 2\n", "", 1, "not a baseline file in the format 2"),
    "no-fact": ("oslo 1 get_weather", "oslo one get_weather", 5, "this line is not part of a baseline"),
    "no-case": ('"paris in spring" no', '"paris in" spring" no', 10, "this line is not part of a baseline"),
    "no-verdict": ('"paris in spring" right #9af3902e\n', "", 9, "this line is not part of a baseline"),
    "two-lines": ("oslo 1 ", "oslo\noslo one ", 5, "this line is not part of a baseline (and 1 more: 6)"),
    "open-end": ("oslo 1 ", "||||||| base\noslo 1 ", 6, "this line is not part of a baseline (and 6 more: 7, 8"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_of_a_file_with_a_line_that_says_nothing_nothing_counts(path: Path, damage: str) -> None:
    old, new, line, message = DAMAGE[damage]
    write_baseline(path, [PARIS, OSLO])
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1), "utf-8")

    ((code, at, text),) = faults(path)
    assert (code, at) == ("damaged-baseline", line)
    assert message in text
    assert not read(path).stanzas


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("oslo wrong", "oslo right"),
        ("oslo 1 ", "oslo 3 "),
        ("Osló", "Rome"),
        ('oslo because "the tokenizer cannot spell it"\n', ""),
        ('{"city": "Osló"}', '{"city": "Os'),
    ],
)  # fmt: skip
def test_lines_that_were_not_accepted_together_are_named_and_other_cases_count(path: Path, old: str, new: str) -> None:
    write_baseline(path, [PARIS, OSLO])
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1), "utf-8")

    assert faults(path) == [("damaged-baseline", 3, "the lines of oslo were not accepted together")]
    assert [*read(path).unclear] == ["oslo"]
    assert [*read(path).stanzas] == ["paris in spring"]


def test_lines_that_a_merge_left_of_an_older_answer_are_passed_over(path: Path) -> None:
    write_baseline(path, [PARIS, OSLO])
    path.write_text(
        TEXT.replace("oslo 1 ", "oslo 1 get_time {}\noslo 1 ").replace("oslo because", "oslo 3 f {}\noslo because"),
        "utf-8",
    )

    assert read(path) == Baseline({"oslo": OSLO, "paris in spring": PARIS})


@pytest.mark.parametrize(("others", "found"), [(4_999, 1), (5_000, 0)])
def test_of_very_many_lines_of_one_case_the_accepted_ones_are_found_in_five_thousand_attempts(
    path: Path, others: int, found: int
) -> None:
    write_baseline(path, [Stanza("oslo", True, calls=(Call("f", {}),))])
    text, line = path.read_text("utf-8"), "oslo 1 f {}\n"
    assert line in text
    path.write_text(text.replace(line, "".join(f"oslo 1 f{number} {{}}\n" for number in range(others)) + line), "utf-8")

    assert len(read(path).stanzas) == found


def test_lines_that_were_accepted_together_and_cannot_be_read_are_told_of_when_their_case_is_asked_for(
    path: Path,
) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("# pytest-fcall baseline 2\n\noslo right #16e6dc31\noslo 1 f {7\n", "utf-8")

    stanzas = read(path).stanzas
    assert [*stanzas] == ["oslo"]
    with pytest.raises(UnreadableStanza, match=r"shop\.fc\.yaml.*: the lines of 'oslo' cannot be read: Expecting"):
        stanzas["oslo"]


def test_values_that_are_nested_too_deeply_cannot_be_read() -> None:
    with pytest.raises(ValueError, match="it is nested too deeply"):
        stanza_of_facts("oslo", ("right #00000000", "answer " + "[" * 100_000), StanzaFields())


def test_a_file_that_is_not_text_is_no_baseline(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXT.encode("latin-1"))

    assert faults(path) == [("damaged-baseline", 1, "not a baseline file, or an incomplete one")]


def test_faults_name_the_file_that_the_content_is_of() -> None:
    found = parse_baseline(b"nothing", Path("v1.0:shop.accepted"))
    assert [fault.location.path for fault in found.faults] == ["v1.0:shop.accepted"]


def test_a_file_that_the_system_does_not_let_be_read_is_a_fault(path: Path) -> None:
    path.mkdir(parents=True)

    (fault,) = read(path).faults
    assert fault.location.path == str(path)
    assert fault.message == "the baseline cannot be read: it is a folder, not a regular file"


def test_bookkeeping_that_the_system_does_not_let_be_read_is_a_fault_of_its_own_file(path: Path) -> None:
    write_baseline(path, [OSLO])
    measurement_path(path).unlink()
    measurement_path(path).mkdir()

    (fault,) = read(path).faults
    assert fault.location.path == str(measurement_path(path))


def test_models_have_a_baseline_wherever_the_project_has_cases(tmp_path: Path) -> None:
    models = [Model("local", name) for name in ("a", "b", "c")]
    for folder, model in zip((".", "cases/deep", "cases"), models, strict=True):
        write_baseline(baseline_path(tmp_path / folder / "a.fc.yaml", model), [OSLO])
    (tmp_path / "__fcall__" / "local-recorded").mkdir()
    (tmp_path / "__fcall__" / "local-recorded" / "a.fc.yaml.replies").touch()

    deep, here = tmp_path / "cases" / "deep" / "a.fc.yaml", tmp_path / "a.fc.yaml"
    assert {*contracts_below(tmp_path)} >= {baseline_path(here, models[0]), baseline_path(deep, models[1])}
    assert len([*contracts_below(tmp_path)]) == 3

    assert {*accepted_models(tmp_path)} == {model.folder for model in models}


@pytest.mark.parametrize("folder", [".venv", "venv", "node_modules", "__pycache__", ".git", "__fcall__"])
def test_baselines_in_folders_that_are_not_the_projects_own_say_nothing(tmp_path: Path, folder: str) -> None:
    write_baseline(baseline_path(tmp_path / folder / "cases" / "a.fc.yaml", Model("local", "m")), [OSLO])

    assert [*accepted_models(tmp_path)] == []
