from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Json, Model, Request, Tool
from pytest_fcall.core.verdict import Rate
from pytest_fcall.schema.tool_names import ToolRename
from pytest_fcall.tracking.acceptance import read_stanzas
from pytest_fcall.tracking.baseline_content import write_baseline
from pytest_fcall.tracking.baseline_file import baseline_path
from pytest_fcall.tracking.bookkeeping import measurement_path, read_measurement, write_measurement
from pytest_fcall.tracking.measurement import Key, Measurement
from pytest_fcall.tracking.question_digests import EXPECTATION, question_changes, question_digests
from pytest_fcall.tracking.renaming import change_stanzas, move_case, renamed_parameters, renamed_stanza
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest
from tests.unit.tracking.stanzas import STANZAS

STRING: Json = {"type": "string"}
WEATHER = Tool("get_weather", "Current weather.", {"type": "object", "properties": {"city": STRING, "day": {}}})
TIME = Tool("get_time", "The time.")
FORECAST = replace(WEATHER, name="forecast")
TOWN = replace(WEATHER, parameters={"type": "object", "properties": {"town": STRING, "day": {}}})
TO_FORECAST = ToolRename("get_weather", "forecast")
TO_TOWN = ToolRename("city", "town", "get_weather")
OSLO = Call("get_weather", {"city": "Oslo", "day": 1})
NOW = Call("get_time", {"city": "Oslo"})


def digests(*tools: Tool, expectation: str = "e1", prompt: str = "Oslo?") -> dict[str, str]:
    asked = Request(({"role": "user", "content": prompt},), tools)
    return {**question_digests(asked), EXPECTATION: expectation}


STANZA = Stanza("oslo", True, calls=(OSLO, NOW), digests=digests(WEATHER, TIME))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return baseline_path(tmp_path / "a.fc.yaml", Model("local", "m"))


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return baseline_path(tmp_path / "b.fc.yaml", Model("local", "m"))


def measured(stanza: Stanza, right: int = 3) -> Measurement:
    return Measurement(stanza.case, Key.of(stanza.digests), Rate(right, 4), until="0")


class TestCases:
    """A case that has another name, or another file."""

    def test_what_is_accepted_and_measured_moves_and_other_cases_stay(self, path: Path, other: Path) -> None:
        rome, bonn = STANZA._replace(case="rome"), STANZA._replace(case="bonn")
        write_baseline(path, [STANZA, rome])
        write_measurement(measurement_path(path), [measured(STANZA, 1), measured(rome, 2)])
        write_baseline(other, [bonn])
        write_measurement(measurement_path(other), [measured(bonn, 4)])

        move_case(path, "oslo", other, "bergen")

        bergen = STANZA._replace(case="bergen")
        assert dict(read_stanzas(path)) == {"rome": rome}
        assert dict(read_stanzas(other)) == {"bergen": bergen, "bonn": bonn}
        assert read_measurement(measurement_path(path)) == {"rome": measured(rome, 2)}
        assert read_measurement(measurement_path(other)) == {"bergen": measured(bergen, 1), "bonn": measured(bonn, 4)}

    def test_a_case_of_which_nothing_is_measured_moves_without(self, path: Path) -> None:
        write_baseline(path, [STANZA])

        move_case(path, "oslo", path, "bergen")

        assert dict(read_stanzas(path)) == {"bergen": STANZA._replace(case="bergen")}
        assert read_measurement(measurement_path(path)) == {}


class TestStanzasOfAFile:
    """What is measured beside stanzas that change."""

    def test_measurements_of_the_accepted_question_follow_it_and_others_stay(self, path: Path) -> None:
        rome, bonn, paris = (STANZA._replace(case=case) for case in ("rome", "bonn", "paris"))
        of_another = replace(measured(rome), key=Key("q9", "p9", "e9"))
        write_baseline(path, [STANZA, rome, bonn])
        write_measurement(measurement_path(path), [measured(STANZA), of_another, measured(paris)])
        new = digests(FORECAST, TIME)

        assert change_stanzas(path, lambda each: each._replace(digests=new) if each.case != "bonn" else each) == 2

        assert {case: each.digests for case, each in read_stanzas(path).items()} == {
            "oslo": new,
            "rome": new,
            "bonn": STANZA.digests,
        }
        assert read_measurement(measurement_path(path)) == {
            "oslo": replace(measured(STANZA), key=Key.of(new)),
            "rome": of_another,
            "paris": measured(paris),
        }

    def test_where_no_stanza_changes_the_files_stay_byte_for_byte(self, path: Path) -> None:
        write_baseline(path, [STANZA])
        write_measurement(measurement_path(path), [measured(STANZA)])
        files = (path, measurement_path(path))
        before = [(each.read_bytes(), each.stat().st_mtime_ns) for each in files]

        assert change_stanzas(path, Stanza._replace) == 0
        assert [(each.read_bytes(), each.stat().st_mtime_ns) for each in files] == before

    def test_where_no_stanza_changes_what_a_merge_left_in_the_file_stays(self, path: Path) -> None:
        write_baseline(path, [STANZA])
        path.write_text(path.read_text("utf-8") + "oslo 1 get_time {}\n", "utf-8")
        before = path.read_bytes()

        assert change_stanzas(path, Stanza._replace) == 0
        assert path.read_bytes() == before

    def test_an_answer_that_changes_without_its_question_keeps_its_measurement(self, path: Path) -> None:
        write_baseline(path, [STANZA])
        write_measurement(measurement_path(path), [measured(STANZA)])

        assert change_stanzas(path, lambda each: each._replace(calls=())) == 1
        assert read_stanzas(path)["oslo"].calls == ()
        assert read_measurement(measurement_path(path)) == {"oslo": measured(STANZA)}


class TestTools:
    """A tool under a new name."""

    def test_its_calls_and_its_digest_have_the_new_name(self) -> None:
        found = renamed_stanza(STANZA, TO_FORECAST, {"oslo": digests(FORECAST, TIME, expectation="e2")})

        assert found.calls == (replace(OSLO, name="forecast"), NOW)
        assert found.digests == digests(FORECAST, TIME, expectation="e2")

    def test_what_else_changed_in_the_question_stays_a_change(self) -> None:
        today = digests(replace(FORECAST, description="Weather."), TIME, prompt="Bergen?")

        found = renamed_stanza(STANZA, TO_FORECAST, {"oslo": today})

        assert question_changes(found.digests, today) == ["the prompt changed", "the description of forecast changed"]

    def test_a_part_of_the_question_that_is_new_changes_nothing_of_the_order_of_tools(self) -> None:
        today = {**digests(FORECAST, TIME), "system": "0a1b2c3d"}

        found = renamed_stanza(STANZA, TO_FORECAST, {"oslo": today})

        assert question_changes(found.digests, today) == ["the system prompt changed"]

    def test_the_order_of_tools_is_that_of_today_only_where_the_tools_are_those_of_today(self) -> None:
        today = digests(FORECAST, TIME, Tool("send_money"))
        found = renamed_stanza(STANZA, TO_FORECAST, {"oslo": today})

        assert found.digests["tools"] == STANZA.digests["tools"]
        assert question_changes(found.digests, today) == ["the tool send_money is new"]

    @pytest.mark.parametrize("tools", [(), (WEATHER,)])
    def test_without_an_order_of_tools_none_is_made(self, tools: tuple[Tool, ...]) -> None:
        stanza = STANZA._replace(digests=digests(*tools))
        found = renamed_stanza(stanza, TO_FORECAST, {"oslo": digests(FORECAST, TIME)})
        assert "tools" not in found.digests

    def test_an_order_of_tools_stays_where_that_of_today_is_not_known(self) -> None:
        alone = {name: each for name, each in digests(FORECAST, TIME).items() if name != "tools"}
        found = renamed_stanza(STANZA, TO_FORECAST, {"oslo": alone})
        assert found.digests["tools"] == STANZA.digests["tools"]

    def test_of_a_case_that_its_file_has_no_more_what_is_expected_stays(self) -> None:
        found = renamed_stanza(STANZA, TO_FORECAST, {})

        assert found.calls == (replace(OSLO, name="forecast"), NOW)
        assert found.digests[EXPECTATION] == "e1"
        assert [name for name in found.digests if name.startswith("tool:")] == ["tool:forecast", "tool:get_time"]

    def test_an_edited_expectation_is_kept_as_a_change_where_the_name_does_not_occur(self) -> None:
        stanza = Stanza("oslo", True, calls=(NOW,), digests=digests(TIME))

        assert renamed_stanza(stanza, TO_FORECAST, {"oslo": digests(TIME, expectation="e2")}) == stanza

    def test_what_is_expected_is_not_made_up_where_one_side_does_not_know_it(self) -> None:
        unknown = {name: each for name, each in STANZA.digests.items() if name != EXPECTATION}
        stanza = STANZA._replace(digests=unknown)
        assert EXPECTATION not in renamed_stanza(stanza, TO_FORECAST, {"oslo": digests(FORECAST, TIME)}).digests

    def test_a_tool_that_was_only_offered_is_enough_for_it_too(self) -> None:
        stanza = Stanza("oslo", True, calls=(NOW,), digests=digests(WEATHER, TIME))
        today = digests(FORECAST, TIME, expectation="e2")
        assert renamed_stanza(stanza, TO_FORECAST, {"oslo": today}) == stanza._replace(digests=today)

    @pytest.mark.parametrize("fields", [{"calls": (OSLO,)}, {"wire": (StanzaRequest("m", (OSLO,)),)}])
    def test_a_call_alone_is_enough_for_the_expectation_of_today(self, fields: dict[str, tuple[object, ...]]) -> None:
        stanza = Stanza("oslo", True, digests=digests(TIME), **fields)  # type: ignore[arg-type]
        found = renamed_stanza(stanza, TO_FORECAST, {"oslo": digests(TIME, expectation="e2")})
        assert found.digests[EXPECTATION] == "e2"

    def test_requests_of_an_app_have_the_new_name_too(self) -> None:
        before = question_digests(Request((), (WEATHER, TIME)))
        stanza = STANZA._replace(calls=None, wire=(StanzaRequest("m", (OSLO,), before), StanzaRequest("m", None)))

        found = renamed_stanza(stanza, TO_FORECAST, {})

        assert found.calls is None
        assert found.wire is not None
        assert [request.calls for request in found.wire] == [(replace(OSLO, name="forecast"),), None]
        assert [*found.wire[0].tools] == ["forecast", "get_time"]

    @given(STANZAS)
    def test_a_name_that_occurs_nowhere_changes_nothing(self, stanza: Stanza) -> None:
        assert renamed_stanza(stanza, ToolRename("\0nobody", "any"), {}) == stanza


class TestParameters:
    """A parameter under a new name."""

    def test_arguments_of_its_tool_and_the_digest_of_its_schema_are_those_of_today(self) -> None:
        today = digests(TOWN, TIME, expectation="e2")

        found = renamed_stanza(STANZA, TO_TOWN, {"oslo": today})

        assert found.calls == (Call("get_weather", {"town": "Oslo", "day": 1}), NOW)
        assert [[*call.arguments] for call in found.calls] == [["town", "day"], ["city"]]
        assert found.digests == today

    def test_a_description_that_changed_too_stays_a_change(self) -> None:
        today = digests(replace(TOWN, description="Weather."), TIME)
        found = renamed_stanza(STANZA, TO_TOWN, {"oslo": today})
        assert question_changes(found.digests, today) == ["the description of get_weather changed"]

    @pytest.mark.parametrize("today", [{}, {"oslo": digests(TIME, prompt="Oslo?")}])
    def test_without_the_tool_of_today_the_digests_stay(self, today: dict[str, dict[str, str]]) -> None:
        found = renamed_stanza(STANZA, TO_TOWN, today)
        assert {**found.digests, EXPECTATION: ""} == {**STANZA.digests, EXPECTATION: ""}
        without = STANZA._replace(digests=digests(TIME))
        assert renamed_stanza(without, TO_TOWN, {"oslo": digests(TOWN, TIME)}).digests == digests(TIME)

    @pytest.mark.parametrize(
        ("path", "now"),
        [
            ("calls[0].args.city", "calls[0].args.town"),
            ("calls[0].args.city.name", "calls[0].args.town.name"),
            ("calls[0].args.city[2]\n", "calls[0].args.town[2]\n"),
            ("calls[0].args.city_id", "calls[0].args.city_id"),
            ("calls[0].args.day", "calls[0].args.day"),
            ("calls[1].args.city", "calls[1].args.city"),  # another tool
            ("calls[2].args.city", "calls[2].args.city"),  # no call
            ("turns[0].calls[0].args.city", "turns[0].calls[0].args.city"),
            ("calls", "calls"),
        ],
    )
    def test_reasons_are_about_the_argument_under_its_new_name(self, path: str, now: str) -> None:
        stanza = STANZA._replace(valid=False, reasons=(("wrong_value", path),))
        assert renamed_stanza(stanza, TO_TOWN, {}).reasons == (("wrong_value", now),)

    @pytest.mark.parametrize(
        ("rename", "calls"), [(ToolRename("city", "town"), (OSLO, replace(OSLO, name=""))), (TO_TOWN, None)]
    )
    def test_reasons_stay_where_a_tool_is_renamed_or_no_call_is_known(
        self, rename: ToolRename, calls: tuple[Call, ...] | None
    ) -> None:
        reasons = (("wrong_value", "calls[0].args.city"), ("wrong_value", "calls[1].args.city"))
        assert renamed_stanza(Stanza("oslo", False, reasons, calls), rename, {}).reasons == reasons


class TestFoundParameters:
    """Parameters of which the names are gone from the tools of today."""

    def test_a_parameter_with_the_schema_of_before_is_found_under_its_new_name(self) -> None:
        assert [*renamed_parameters([STANZA], [TIME, TOWN])] == [TO_TOWN]

    @pytest.mark.parametrize(
        "today",
        [
            WEATHER,
            replace(TOWN, name="forecast"),
            replace(TOWN, parameters={"type": "object", "properties": {"town": {"type": "integer"}, "day": {}}}),
            replace(TOWN, parameters={}),
            replace(TOWN, parameters={"properties": 7}),
        ],
    )
    def test_nothing_is_found_where_nothing_or_more_than_a_name_changed(self, today: Tool) -> None:
        assert [*renamed_parameters([STANZA], [today])] == []

    def test_of_stanzas_without_calls_nothing_is_known(self) -> None:
        assert [*renamed_parameters([STANZA._replace(calls=None), STANZA._replace(calls=())], [TOWN])] == []

    @pytest.mark.parametrize(("invented", "found"), [(499, [TO_TOWN]), (500, [])])
    def test_a_thousand_pairs_of_names_are_tried(self, invented: int, found: list[ToolRename]) -> None:
        properties: Json = {"day": {}, "town": STRING}
        today = replace(TOWN, parameters={"type": "object", "properties": properties})
        first = Call("get_weather", {f"x{number}": 1 for number in range(invented)})
        assert [*renamed_parameters([STANZA._replace(calls=(first, OSLO))], [today])] == found

    @given(st.text(min_size=1), st.text(min_size=1))
    def test_whatever_the_names_are_a_renamed_parameter_is_found_and_the_question_then_is_that_of_today(
        self, old: str, new: str
    ) -> None:
        before, today = (Tool("f", "", {"properties": {"": {}, name: STRING}}) for name in (old, new))
        stanza = Stanza("oslo", True, calls=(Call("f", {old: "Oslo"}),), digests=digests(before))

        found = [*renamed_parameters([stanza], [today])]

        assert found == ([] if old == new else [ToolRename(old, new, "f")])
        for rename in found:
            moved = renamed_stanza(stanza, rename, {"oslo": digests(today)})
            assert moved.calls == (Call("f", {new: "Oslo"}),)
            assert question_changes(moved.digests, digests(today)) == []
