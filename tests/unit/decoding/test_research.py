"""Formats of research systems: Gorilla, ToolBench, API-BLEND."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, Json, Reply, Tool
from pytest_fcall.decoding.decoders import decode
from tests.unit.decoding.tools import TOOLS, tool

SHOP = (
    *TOOLS,
    tool("set_location", value="string"),
    tool("set_origin", place="object"),
    tool("set_date", date="object"),
    tool("Put", object="string", on="string"),
    tool("worksheet.update", range_name="string", values="array"),
    tool("click", button="string"),
    tool("FindHotel", city="string", stars="integer"),
    tool("LoadDB", DBName="string"),
    tool("GET /data/2.5/weather", q="string", lat="number"),
    tool("GET /weather", q="string"),
    tool("GET /{anything}", anything="string"),
    tool("DELETE /v1/favourites/{image_id}", image_id="string"),
    tool("POST /v1/votes", image_id="string", value="integer"),
)


def read(decoder: str, text: str, tools: tuple[Tool, ...] = SHOP) -> Calls:
    return decode(Reply(text, decoder=decoder), tools)


def only(decoder: str, text: str) -> tuple[str, dict[str, Json]]:
    calls = read(decoder, text)
    assert calls.malformed is None
    (call,) = calls.calls
    return call.name, dict(call.arguments)


@pytest.mark.parametrize(
    ("decoder", "text"),
    [
        ("gorilla", "<<function>>ping()"),
        ("gorilla", "ping()"),
        ("toolbench", "API.ping()"),
        ("api_blend_topv2", "ping()"),
        ("api_blend_toolqa", "ping[]"),
        ("api_blend_atis", '[{"API": "ping", "Parameters": {}}]'),
    ],
)
def test_what_was_thought_is_no_call(decoder: str, text: str) -> None:
    assert read(decoder, f"<think>\n{text}\n</think>\n\nHello.") == Calls()
    assert read(decoder, f"<think>\n{text}\n") == Calls()
    calls = read(decoder, f"<think>Hm.</think>\n{text}")
    assert calls == Calls((Call("ping", {}),), notes=("Text beside the calls was dropped: '<think>Hm.</think>'.",))


class TestGorilla:
    def test_calls_follow_the_mark(self) -> None:
        calls = read("gorilla", "Sure: <<function>>get_weather('Oslo', days=3)\n<<function>>math.add(a=1, b=2) Done.")
        assert calls.calls == (
            Call("get_weather", {"city": "Oslo", "days": 3}),
            Call("math.add", {"a": 1, "b": 2}),
        )
        assert "Sure" in calls.notes[1]

    def test_the_mark_within_a_string_is_none(self) -> None:
        assert only("gorilla", "<<function>>f(a='<<function>>g()')") == ("f", {"a": "<<function>>g()"})

    def test_the_first_version_wrote_no_mark(self) -> None:
        assert only("gorilla", "uber.ride(loc='berkeley', time=10)") == ("uber.ride", {"loc": "berkeley", "time": 10})

    @pytest.mark.parametrize("text", ["<<function>>ping()</s>", "ping()</s>\n"])
    def test_a_token_that_ends_the_text_is_silent(self, text: str) -> None:
        assert read("gorilla", text) == Calls((Call("ping", {}),))

    @pytest.mark.parametrize("text", ["", "I cannot.", "Use ping() for that.", "get_weather(city='x') tells"])
    def test_prose_is_no_call(self, text: str) -> None:
        assert read("gorilla", text) == Calls()

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("<<function>>ping(", "not closed"),
            ("<<function>>f(a='x", "not closed"),
            ("<<function>>ping", "not closed"),
            ("<<function>>(1)", "not a tool call"),
            ("<<function>>f(a=b c)", "cannot be read"),
            ("<<function>>f(a=b)", "'b' is not a literal"),
        ],
    )
    def test_what_follows_the_mark_and_cannot_be_read_is_malformed(self, text: str, words: str) -> None:
        assert words in str(read("gorilla", text).malformed)


class TestToolBench:
    @pytest.mark.parametrize(
        ("text", "name", "arguments"),
        [
            ('API.set_location("Cape Coral")', "set_location", {"value": "Cape Coral"}),
            ("Action:\nAPI.search()\n", "API.search", {}),
            ('here = Loc("Oslo")\nAPI.set_origin(here)', "set_origin", {"place": {"location": "Oslo"}}),
            ("API.set_date(Date(3, 9, year=2023))", "set_date", {"date": {"month": 3, "day": 9, "year": 2023}}),
            ("1. Agent.Put(novel, dresser);", "Put", {"object": "novel", "on": "dresser"}),
            ("'Put(novel)'", "Put", {"object": "novel"}),
            ("worksheet.update('A2', [[42]])", "worksheet.update", {"range_name": "A2", "values": [[42]]}),
            ("click[buy now]", "click", {"button": "buy now"}),
            (
                "curl -X GET 'https://x.org/data/2.5/weather?q=New%20York&lat=1.5&appid={API_KEY}'",
                "GET /data/2.5/weather",
                {"q": "New York", "lat": 1.5, "appid": "{API_KEY}"},
            ),
            ("curl https://x.org/3/weather?q=", "GET /weather", {"q": ""}),
            ("curl https://x.org/else", "GET /{anything}", {"anything": "else"}),
            ("```bash\ncurl\t-XPUT 'https://x.org/a'\n```", "PUT /a", {}),
            ("curl x.org/a -da=1 --data b=2", "POST /a", {"a": "1", "b": "2"}),
            (
                "curl -G x.org/weather -d q=Oslo --data-urlencode 'q2=a b&c'",
                "GET /weather",
                {"q": "Oslo", "q2": "a b&c"},
            ),
            ("curl -sS --url https://x.org/a -X PUT", "PUT /a", {}),
            (
                "curl -X DELETE \\\n 'https://x.org/v1/favourites/tu'",
                "DELETE /v1/favourites/{image_id}",
                {"image_id": "tu"},
            ),
            (
                """curl 'https://x.org/v1/votes' --data '{"image_id":"alp", "value":1}'""",
                "POST /v1/votes",
                {"image_id": "alp", "value": 1},
            ),
            ("API.get_weather('Oslo')</s>", "get_weather", {"city": "Oslo"}),
            ('curl x.org/v1/votes -d "image_id=al"p\\&value=1', "POST /v1/votes", {"image_id": "alp", "value": 1}),
        ],
    )
    def test_an_action_on_a_line(self, text: str, name: str, arguments: dict[str, Json]) -> None:
        assert only("toolbench", text) == (name, arguments)

    def test_actions_end_where_the_next_task_begins(self) -> None:
        calls = read("toolbench", "API.search()\n\nTask: Another\nAPI.ping()")
        assert [call.name for call in calls.calls] == ["API.search"]
        assert calls.notes == ("Text from 'Task: Another' on was dropped.",)

    def test_prose_is_dropped_and_noted(self) -> None:
        assert "'Let me search:'" in read("toolbench", "Let me search:\nAPI.search()").notes[0]
        assert read("toolbench", "I cannot search (yet).\n# API") == Calls()
        assert read("toolbench", "Note(s): none. Ask (me)\ntotal = 5 apples\n```\nHello\n```") == Calls()

    def test_headers_are_dropped_and_noted_without_their_secrets(self) -> None:
        calls = read("toolbench", "curl https://x.org/weather -H 'x-api-key: 1234'")
        assert calls.notes == ("Call 1: The option '-H' was dropped.",)

    def test_a_key_that_stands_twice_in_a_body_is_noted(self) -> None:
        calls = read("toolbench", """curl x.org/a -d '{"b": 1, "b": 2}'""")
        assert calls.calls == (Call("POST /a", {"b": 2}),)
        assert "'b' is repeated" in calls.notes[0]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("API.set_location('Cape", "unterminated string"),
            ("API.set_origin(here)", "the name 'here' is not a literal"),
            ("here = Loc('a', 'b')\nAPI.search()", "'here' cannot be read: 'Loc' takes 1 arguments, but 2"),
            ("here = Place(1)\nAPI.search()", "'here' cannot be read"),
            ("here = '" + "x" * 300 + "'", "'here' cannot be read"),
            ("API.set_date(Time(1))", "a call is not a literal"),
            ("API.search", "is not a tool call"),
            ("search[shoes]", "positional arguments of 'search', which was not offered"),
            ("curl 'https://x.org", "a quote is not closed"),
            ("curl -X GET", "it has no URL"),
            ("curl a b", "more than one URL"),
            ("curl a -d '{}' -d '{}'", "Extra data"),
            ("curl a -d '[1]'", "a list"),
            ("curl -Z a", "unknown option '-Z'"),
            ("curl 'http://[x'", "the URL 'http://[x' cannot be read"),
            ("curl 'x.org/%ff'", "cannot be read"),
            ("curl 'x.org/a?b=%ff'", "cannot be read"),
            ("curl 'x.org/a?b=1&b=2'", "the argument 'b' is given twice"),
            ("curl 'x.org/a?b=1' -d '{\"b\": 2}'", "in both the URL and the body"),
            ("curl x.org -d '{\"b\": '", "Expecting value"),
        ],
    )
    def test_what_was_meant_as_an_action_and_cannot_be_read_is_malformed(self, text: str, words: str) -> None:
        assert words in str(read("toolbench", text).malformed)


class TestApiBlend:
    @pytest.mark.parametrize(
        ("decoder", "text", "calls"),
        [
            (
                "topv2",
                'SEND_MESSAGE(CONTENT_EXACT, RECIPIENT = "Joy"), CREATE_REMINDER(DATE_TIME = "to, night")',
                [
                    Call("SEND_MESSAGE", {"CONTENT_EXACT": None, "RECIPIENT": "Joy"}),
                    Call("CREATE_REMINDER", {"DATE_TIME": "to, night"}),
                ],
            ),
            (
                "topv2",
                '["A(X = \\"say \\\\\\"hi\\\\\\" (now)\\")", "B()"]',
                [Call("A", {"X": 'say "hi" (now)'}), Call("B", {})],
            ),
            ("topv2", 'Answer: A(X = "1")\nB()', [Call("A", {"X": "1"}), Call("B", {})]),
            (
                "sgd",
                "FindHotel(city = Oslo (old, town) ; stars = 4) [SEP] Reserve(hotel = O'Neil's = best)",
                [
                    Call("FindHotel", {"city": "Oslo (old, town)", "stars": 4}),
                    Call("Reserve", {"hotel": "O'Neil's = best"}),
                ],
            ),
            (
                "sgd",
                "FindHotel(has = wifi;bar; pool ; city=Oslo;area = old)",
                [Call("FindHotel", {"has": "wifi;bar; pool", "city": "Oslo", "area": "old"})],
            ),
            ("multiwoz", "find_hotel(area = north)<|endoftext|>", [Call("find_hotel", {"area": "north"})]),
            (
                "toolqa",
                "LoadDB[DBName=flights], FilterDB[Origin=OSL, Dest=it's, To=y's]\nGetValue[DepTime]",
                None,
            ),
            ("toolqa", "LoadDB[flights]", [Call("LoadDB", {"DBName": "flights"})]),
            ("toolqa", "LoadDB[a [b], c = d]", [Call("LoadDB", {"DBName": "a [b], c = d"})]),
            (
                "toolqa",
                "LoadDB(abs(a), max(b, (c))), LoadDB[e]",
                [Call("LoadDB", {"DBName": "abs(a), max(b, (c))"}), Call("LoadDB", {"DBName": "e"})],
            ),
            ("toolqa", "LoadDB[a], LoadDB(b)", [Call("LoadDB", {"DBName": "a"}), Call("LoadDB", {"DBName": "b"})]),
            ("toolqa", '["LoadDB[DBName=flights]", "End[]"]', [Call("LoadDB", {"DBName": "flights"}), Call("End", {})]),
            ("atis", '[{"API": "flight", "Parameters": {"city": ["Oslo"]}}]', [Call("flight", {"city": ["Oslo"]})]),
            ("topv2", '[A(X = "y"), B()]', [Call("A", {"X": "y"}), Call("B", {})]),
            ("snips", '{"text": "…", "APIs": [{"API": "a", "Parameters": {}}]}', [Call("a", {})]),
        ],
    )
    def test_each_notation(self, decoder: str, text: str, calls: list[Call] | None) -> None:
        found = read(f"api_blend_{decoder}", text)
        if calls is None:
            assert [call.name for call in found.calls] == ["LoadDB", "FilterDB"]
            assert "positional arguments of 'GetValue'" in str(found.malformed)
        else:
            assert (list(found.calls), found.malformed) == (calls, None)

    @pytest.mark.parametrize("decoder", ["topv2", "sgd", "toolqa", "atis"])
    @pytest.mark.parametrize("text", ["", "Nice (to) meet [you].", "I would use A(b) here.", "See note(s): none."])
    def test_prose_is_no_call(self, decoder: str, text: str) -> None:
        assert read(f"api_blend_{decoder}", text) == Calls()

    def test_beside_prose_a_line_counts_where_its_tool_was_offered(self) -> None:
        calls = read("api_blend_sgd", "I would do this:\nFindHotel(city = Oslo)\nprint(city)")
        assert calls.calls == (Call("FindHotel", {"city": "Oslo"}),)
        assert "'I would do this:'" in calls.notes[0]

    @pytest.mark.parametrize(
        ("decoder", "text", "words"),
        [
            ("topv2", 'A(X = "y', "'A' is not closed by `)`"),
            ("topv2", 'A(X = "y", X = "z")', "the argument 'X' of 'A' is given twice"),
            ("sgd", "A( = y)", "a value of 'A' has no name"),
            ("sgd", "A(x = y ; )", "a value of 'A' has no name"),
            ("toolqa", "FilterDB[a, b]", "'FilterDB', which was not offered"),
            ("toolqa", "LoadDB[DBName=a", "not closed by `]`"),
            ("atis", "[1]", "`API` and `Parameters`"),
            ("atis", '{"API": "a"}', "'a' has no `Parameters`"),
            ("atis", '{"API": "a", "Parameters": 1}', "a number"),
            ("atis", '{"API": "a", "Parameters": {}, "b": 1}', "'b'"),
            ("atis", '[{"API"', "not JSON"),
            ("atis", "[{'API': 'flight', 'Parameters': {}}]", "not JSON"),
        ],
    )
    def test_what_cannot_be_read_is_malformed(self, decoder: str, text: str, words: str) -> None:
        assert words in str(read(f"api_blend_{decoder}", text).malformed)
