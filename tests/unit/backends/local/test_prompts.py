"""Prompts by chat templates, written by the tokenizers that models come with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_fcall.backends.local.aliases import LocalModel, find_model
from pytest_fcall.backends.local.prompts import ModelPrompts
from pytest_fcall.core import CaseRefused, Json, Message, ModelUnavailable, Request, Tool
from tests.unit.backends.local.test_prompts_own import AGAIN, BEGIN, CALLED, RESULT, SYSTEM, USER, WEATHER

REASON = "chat templates are rendered by transformers' own tokenizers; they come with the extra `local`"
tokenizers: Any = pytest.importorskip("tokenizers", reason=REASON)
transformers: Any = pytest.importorskip("transformers", reason=REASON)

SAID = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
ASKED = "<user>Weather in Oslo?"
TELLS = "{{ tools | tojson if tools }}" + SAID
DROPS = "the chat template ignores tools; they are described in the prompt instead"
NATIVE = LocalModel("org/mine", decoder="llama")

Make = Callable[..., ModelPrompts]


END = "</s>"


def tokenizer(template: object) -> Any:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({BEGIN: 0, END: 1}))
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=words, bos_token=BEGIN, eos_token=END)
    made.chat_template = template
    return made


def prompts(template: object, model: LocalModel = NATIVE, override: str | None = None) -> ModelPrompts:
    return ModelPrompts(model, tokenizer(template), override)


def told(template: object, *messages: Message, tools: tuple[Tool, ...] = (WEATHER,), **settings: Json) -> str:
    return prompts(template).prompt_text(Request(messages, tools, settings))


def test_tools_are_told_by_the_template_where_it_tells_them() -> None:
    made = prompts(TELLS)
    assert (made.decoder, made.notes) == ("llama", ())
    text = made.prompt_text(Request((SYSTEM, USER), (WEATHER,)))
    assert text.startswith('[{"type": "function", "function": {"name": "get_weather"')
    assert text.endswith(f"<system>Be short.{ASKED}")


def test_without_tools_nothing_is_told_of_any() -> None:
    assert told(TELLS, USER, tools=()) == ASKED
    assert told(SAID, USER, tools=()) == ASKED


def test_the_answer_is_the_model_s_turn() -> None:
    assert told(SAID + "{{ '<go>' if add_generation_prompt }}", USER, tools=()) == f"{ASKED}<go>"


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(SAID, id="drops"),
        pytest.param("{{ 'You have tools.' if tools }}" + SAID, id="says that there are some"),
        pytest.param("{{ raise_exception('no tools') if tools }}" + SAID, id="refuses"),
        pytest.param("{{ tools | tojson if messages[0].role == 'user' }}" + SAID, id="drops beside a system prompt"),
        pytest.param("{{ tools | tojson if messages[0].role == 'system' }}" + SAID, id="drops without one"),
    ],
)
@pytest.mark.parametrize(
    ("model", "decoder"),
    [(NATIVE, "hermes"), (LocalModel("m", decoder="python"), "python"), (find_model("gorilla"), "hermes")],
)
def test_what_drops_tools_is_told_them_in_our_own_words(template: str, model: LocalModel, decoder: str) -> None:
    made = prompts(template, model, override=template)
    assert (made.decoder, made.notes) == (decoder, (DROPS,))
    text = made.prompt_text(Request((SYSTEM, USER), (WEATHER,)))
    assert "You can call tools." in text
    assert text.endswith(f"Be short.{ASKED}")


def test_a_style_of_ours_may_be_asked_for() -> None:
    made = prompts(TELLS, find_model("org/mine", {"prompt": "json"}))
    assert (made.decoder, made.notes) == ("json", ())
    text = made.prompt_text(Request((USER,), (WEATHER,)))
    assert text.startswith("<system>You can call tools.")
    assert "Answer with a JSON list" in text


def test_tools_in_the_system_message_are_told_there() -> None:
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m.tools if m.tools }}{% endfor %}"
    made = prompts(template, find_model("phi-4-mini"))
    assert (made.decoder, made.notes) == ("phi", ())
    for messages in ((USER,), (SYSTEM, USER)):
        text = made.prompt_text(Request(messages, (WEATHER,)))
        assert '[{"name": "get_weather", "description": "Tell the weather."' in text
        assert text.count("<system>") == 1
        assert text.endswith(ASKED)


@pytest.mark.parametrize(
    "template",
    [
        "{{ raise_exception('No.') if messages[0].role == 'system' }}" + SAID,
        "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    ],
)
def test_a_template_without_system_messages_has_them_in_the_first_question(template: str) -> None:
    assert told(template, SYSTEM, USER, tools=()) == "<user>Be short.\n\nWeather in Oslo?"
    assert told(template, {"role": "developer", "content": "Be short."}, USER, tools=()).startswith("<user>Be short.")
    assert told(template, SYSTEM, tools=()) == "<user>Be short."
    assert told(template, USER, tools=()) == ASKED


def test_an_override_stands_for_the_tokenizer_s_own() -> None:
    made = prompts(TELLS, find_model("gorilla"), override="{{ tools | tojson if tools }}!" + SAID)
    assert made.decoder == "gorilla"
    assert made.prompt_text(Request((USER,))) == f"!{ASKED}"


def test_a_model_without_a_template_is_asked_in_plain_text() -> None:
    made = prompts(None)
    assert made.decoder == "hermes"
    assert "there is no chat template" in made.notes[0]
    assert made.prompt_text(Request((USER,))) == f"{BEGIN}user: Weather in Oslo?\nassistant:"
    assert "get_weather" in made.prompt_text(Request((USER,), (WEATHER,)))


def test_of_several_templates_that_for_tools_tells_them() -> None:
    made = prompts({"default": SAID, "tool_use": TELLS})
    assert made.notes == ()
    assert "get_weather" in made.prompt_text(Request((USER,), (WEATHER,)))
    assert made.prompt_text(Request((USER,))) == ASKED


CALLS = (
    "{{ messages[0].content }}|"
    "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ CALL }}{% endfor %}{% endfor %}"
    "{{ tools | tojson if tools }}"
)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("c.function.arguments | tojson", '{"city": "Oslo"}'),
        ("'`' + c.function.arguments + '`'", '`{"city": "Oslo"}`'),
        ("c.id if c.id | length == 9 else raise_exception('nine!')", "000000000"),
        ("c.id", "a"),
        ("c.type", "function"),
    ],
)
def test_earlier_calls_are_told_as_the_template_takes_them(call: str, text: str) -> None:
    assert told(CALLS.replace("CALL", call), USER, CALLED, RESULT, AGAIN).startswith(f"Weather in Oslo?|{text}[")


def test_a_result_and_its_call_keep_one_name() -> None:
    template = CALLS.replace("CALL", "c.id if c.id | length == 9 else raise_exception('nine!')")
    template += "{% for m in messages %}{{ '|' + m.tool_call_id if m.tool_call_id }}{% endfor %}"
    assert told(template, USER, CALLED, RESULT).endswith("|000000000")


def test_messages_without_content_have_an_empty_one() -> None:
    template = "{% for m in messages %}{{ m.content + '|' }}{% endfor %}{{ tools | tojson }}"
    assert told(template, USER, CALLED, {"role": "assistant"}).startswith("Weather in Oslo?|||[")


CLOCK = SAID + "{{ strftime_now('%d %b %Y') }}"


@pytest.mark.parametrize(("now", "date"), [(datetime(2026, 11, 21, tzinfo=UTC), "21 Nov 2026"), (None, "26 Jul 2024")])
def test_the_date_is_that_of_the_case(now: datetime | None, date: str) -> None:
    made = prompts(CLOCK)
    assert made.notes[0].startswith("the chat template inserts the date")
    assert made.prompt_text(Request((USER,), now=now)) == ASKED + date


def test_a_case_may_say_what_else_the_template_wants() -> None:
    template = SAID + "{{ '/no_think' if enable_thinking is false }}"
    assert told(template, USER, tools=(), chat_template_kwargs={"enable_thinking": False}) == f"{ASKED}/no_think"
    assert told(template, USER, tools=(), chat_template_kwargs={"tokenize": True, "chat_template": "x"}) == ASKED
    assert told(template, USER, tools=(), chat_template_kwargs=3) == ASKED


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({"role": "user", "content": "fail"}, "the chat template fails on this conversation: it failed"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "read text only"),
    ],
)
def test_a_conversation_that_cannot_be_told_concerns_its_case(last: Message, said: str) -> None:
    template = "{{ raise_exception('it\nfailed') if 'fail' in messages[-1].content }}" + TELLS
    for earlier in ((USER,), (USER, CALLED, RESULT)):
        with pytest.raises(CaseRefused, match=said):
            told(template, *earlier, last)


@pytest.mark.parametrize("template", ["{% if", "{{ raise_exception('no') }}", "{{ 1 / 0 }}", "{{ x.y.z }}"])
def test_a_template_that_can_tell_nothing_concerns_the_model(template: str) -> None:
    with pytest.raises(ModelUnavailable, match="the chat template cannot be used: the chat template fails"):
        prompts(SAID, override=template)


def test_a_template_that_leaves_out_the_question_concerns_the_model() -> None:
    with pytest.raises(
        ModelUnavailable, match="the chat template cannot be used: the chat template leaves out the user"
    ):
        prompts("Hello!")


def test_a_template_that_wants_parts_is_given_parts() -> None:
    template = "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}"
    made = prompts(template)
    assert made.prompt_text(Request((USER,))) == ASKED
    assert made.prompt_text(Request((SYSTEM, USER), (WEATHER,))).endswith(f"Be short.{ASKED}")


def test_a_template_for_requests_with_tools_only_will_do() -> None:
    made = prompts("{% for tool in tools %}{{ tool.function.name }}{% endfor %}" + SAID)
    assert made.prompt_text(Request((SYSTEM, USER), (WEATHER,))) == f"get_weather<system>Be short.{ASKED}"
    with pytest.raises(CaseRefused):
        made.prompt_text(Request((USER,)))


def test_questions_that_follow_each_other_are_joined_where_they_must_be() -> None:
    strict = "{% for m in messages %}{{ raise_exception('no') if m.role != ['user', 'assistant'][loop.index0 % 2] }}"
    strict += "{{ m.content }}{% endfor %}"
    assert told(strict, USER, AGAIN, tools=()) == "Weather in Oslo?\n\nAnd in Rome?"
    assert told(SAID, USER, AGAIN, tools=()) == f"{ASKED}<user>And in Rome?"
    assert told(strict, USER, CALLED, RESULT, AGAIN).endswith("</tool_response>\n\nAnd in Rome?")


def test_templates_by_name_are_used_whatever_the_names() -> None:
    assert prompts({"tool_use": TELLS}).prompt_text(Request((USER,))) == ASKED


def test_a_template_reaches_nothing_of_python() -> None:
    with pytest.raises(ModelUnavailable):
        prompts("{{ messages.__class__.__mro__[1].__subclasses__()[0]() }}")
