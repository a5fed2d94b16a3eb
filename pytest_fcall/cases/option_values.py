"""Readers of the options of a case, which `defaults:` may set for all cases of a file: one for each key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.calls import call_patterns
from pytest_fcall.cases.faults import Faults, one_of, quote
from pytest_fcall.cases.ids import tag
from pytest_fcall.cases.messages import Messages
from pytest_fcall.cases.node_values import one_or_many
from pytest_fcall.cases.placeholders import read_clock
from pytest_fcall.cases.rules import language, profile, strings
from pytest_fcall.cases.scope import Scope, check_library, check_tool_name
from pytest_fcall.cases.yaml.values import STR
from pytest_fcall.core.case import Condition, Retrieval, RetrieverName, Samples
from pytest_fcall.core.expectation import CallPattern
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import is_rule

if TYPE_CHECKING:
    from pytest_fcall.core.conversation import User
    from pytest_fcall.core.injection import Injection
    from pytest_fcall.core.result_fault import ResultFault
    from pytest_fcall.core.variants import WantedRelation


def system(node: Node, scope: Scope) -> str:
    """The system message."""
    return Messages(scope).text(node, "`system`")


def now(node: Node, scope: Scope) -> datetime | None:
    """The clock of a case. It may itself be written with placeholders."""
    return read_clock(scope.placeholders.fill_node(node, scope.faults), scope.faults)


def tags(node: Node, scope: Scope) -> tuple[str, ...]:
    """A list of tags."""
    return tuple(tag(item, scope.faults) for item in node_values.items(node, scope.faults, "`tags`"))


def category(node: Node, scope: Scope) -> str:
    """The row of the summary that counts the case."""
    name = node_values.text(node, scope.faults, "`category`")
    if node.tag == STR and (not name or not name.isprintable() or name != name.strip()):
        message = "`category` must be printable and not empty, and must not begin or end with a space"
        scope.faults.add("wrong-value", node, message)
    return name


def decoder(node: Node, scope: Scope) -> str:
    """The name of a decoder."""
    return node_values.choice(node, scope.faults, "`decoder`", sorted(scope.extensions.decoders), "auto")


def never(node: Node, scope: Scope) -> tuple[CallPattern, ...]:
    """Forbidden calls."""
    return call_patterns(node, scope, "`never`")


def skip(node: Node, scope: Scope) -> tuple[Condition, ...]:
    """The models that are not asked, and why."""
    return _conditions(node, scope.faults, "`skip`")


def xfail(node: Node, scope: Scope) -> tuple[Condition, ...]:
    """The models that are expected to fail, and why."""
    return _conditions(node, scope.faults, "`xfail`")


def _conditions(node: Node, faults: Faults, what: str) -> tuple[Condition, ...]:
    """A reason, a mapping of reason and models, or a list of these."""
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return tuple(_condition(item, faults, what) for item in nodes)


def _condition(node: Node, faults: Faults, what: str) -> Condition:
    if isinstance(node, ScalarNode):
        return Condition(_reason(node, faults, what))
    found = node_values.entries(node, faults, what, ("reason", "models"))
    models = found.read("models", one_or_many, faults, "a model") or ()
    if "reason" not in found:
        if found:
            faults.add("missing-key", node, f"{what} needs a `reason`", "add `reason: …`")
        return Condition("")
    return Condition(_reason(found["reason"][1], faults, what), tuple(name for name, _ in models))


def _reason(node: Node, faults: Faults, what: str) -> str:
    if isinstance(node, ScalarNode) and (node.tag != STR or not node.value.strip()):
        faults.add("missing-key", node, f"{what} needs a reason", f"such as `{what.strip('`')}: drops the second call`")
        return ""
    return node_values.text(node, faults, what)


def samples(node: Node, scope: Scope) -> Samples:
    """A number, or a mapping of one and a rule."""
    faults = scope.faults
    if not isinstance(node, MappingNode):
        return Samples(_sample_count(node, faults))
    found = node_values.entries(node, faults, "`samples`", ("count", "rule"))
    rule = node_values.text(found["rule"][1], faults, "the rule of `samples`") if "rule" in found else "all"
    if rule and not is_rule(rule):
        faults.add("wrong-value", found["rule"][1], f"unknown rule {quote(rule)}", "all, any, or such as rate>=0.8")
    if "count" in found:
        return Samples(_sample_count(found["count"][1], faults), rule)
    faults.add("missing-key", node, "`samples` needs a `count`", "a number")
    return Samples(1, rule)


def variants(node: Node, scope: Scope) -> tuple[WantedRelation, ...]:
    """The relations that a case is varied by."""
    from pytest_fcall.cases.variants import read_variants

    return read_variants(node, scope)


def _sample_count(node: Node, faults: Faults) -> int:
    return node_values.integer(node, faults, "`samples`", least=1)


def settings(node: Node, scope: Scope) -> Mapping[str, Json]:
    """The settings of a request. The values of those in KNOWN_SETTINGS are checked."""
    found = node_values.entries(node, scope.faults, "`settings`")
    return {name: _setting(name, value, scope) for name, (_, value) in found.items()}


def _setting(name: str, node: Node, scope: Scope) -> Json:
    what = f"`{name}`"
    match name:
        case "temperature":
            return node_values.not_negative(node, scope.faults, what)
        case "top_p":
            return node_values.share(node, scope.faults, what)
        case "frequency_penalty" | "presence_penalty":
            return node_values.number(node, scope.faults, what)
        case "max_tokens":
            return node_values.integer(node, scope.faults, what, least=1)
        case "seed":
            return node_values.integer(node, scope.faults, what)
        case "parallel_tool_calls":
            return node_values.boolean(node, scope.faults, what)
        case "tool_choice" if isinstance(node, ScalarNode):
            return _tool_choice(node, scope)
    return node_values.value(node, scope.faults)


KNOWN_SETTINGS = (
    *("temperature", "top_p", "frequency_penalty", "presence_penalty"),
    *("max_tokens", "seed", "tool_choice", "parallel_tool_calls"),
)
_TOOL_CHOICES = ("auto", "none", "required")


def _tool_choice(node: Node, scope: Scope) -> Json:
    word = node_values.word(node, scope.faults, "`tool_choice`")
    if word in _TOOL_CHOICES or not word:
        return word
    if word not in scope.toolbox.tools and scope.toolbox.is_complete:
        hint = did_you_mean(word, (*_TOOL_CHOICES, *scope.toolbox.tools)) or f"{one_of(_TOOL_CHOICES)}, or a tool"
        scope.faults.add("wrong-value", node, f"`tool_choice` cannot be {quote(word)}", hint)
    return {"type": "function", "function": {"name": word}}


_RETRIEVE_KEYS = ("with", "k", "model")
_LIBRARIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"bm25": ("rank_bm25", "retrieval"), "embeddings": ("sentence_transformers", "embeddings")}
)
"""The module that each retriever needs, and the extra that installs it."""


def retrieval(node: Node, scope: Scope) -> Retrieval:
    """`{with: bm25, k: 5}`, or `{with: embeddings, model: NAME}`, where NAME may be `python:module:function`."""
    faults = scope.faults
    found = node_values.entries(node, faults, "`retrieve`", _RETRIEVE_KEYS)
    k = node_values.integer(found["k"][1], faults, "`k`", least=1) if "k" in found else 5
    if "with" not in found:
        if isinstance(node, MappingNode):
            faults.add("missing-key", node, "`retrieve` needs a `with`", "such as `retrieve: {with: bm25, k: 5}`")
        return Retrieval("bm25", k)
    by: RetrieverName = node_values.choice(found["with"][1], faults, "`with`", get_args(RetrieverName), "bm25")
    model = found.read("model", node_values.text, faults, "`model`")
    if by in _LIBRARIES and not (model and model.startswith("python:")):
        check_library(found["with"][1], f"`with: {by}`", *_LIBRARIES[by], faults)
    if by == "embeddings" and not model:
        hint = "a model of sentence-transformers, or python:module:function"
        faults.add("missing-key", node, "`with: embeddings` needs a `model`", hint)
    if by != "embeddings" and "model" in found:
        faults.add("contradiction", found.key("model"), f"`model` is not allowed with `{by}`", "leave `model` out")
    return Retrieval(by, k, model)


ENVIRONMENT_SOURCES: Final = MappingProxyType({"python": "python", "mcp": "mcp", "http": "openapi"})
"""The environments that carry out calls where the tools were read from, and the tool source of each."""

_NAME = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_TARGET = re.compile(rf"{_NAME}(:{_NAME})?")


def environment(node: Node, scope: Scope) -> str:
    """One of ENVIRONMENT_SOURCES, a module, or `module:callable`."""
    target = node_values.word(node, scope.faults, "`environment`")
    if not target:
        return target
    if not _TARGET.fullmatch(target):
        hint = f"such as shop.fake:make, or one of {', '.join(ENVIRONMENT_SOURCES)}"
        message = f"{quote(target)} is neither a module nor `module:callable`"
        scope.faults.add("wrong-value", node, message, hint)
    elif target in ENVIRONMENT_SOURCES:
        _check_environment_source(target, node, scope)
    elif (meant := did_you_mean(target, ENVIRONMENT_SOURCES)) and find_spec(
        target.partition(".")[0].partition(":")[0]
    ) is None:
        scope.faults.add("wrong-value", node, f"there is no module {quote(target)}", meant)
    return target


def _check_environment_source(word: str, node: Node, scope: Scope) -> None:
    """Check that a tool can be carried out there. `http` needs no source, since any tool may be a command of curl."""
    source = ENVIRONMENT_SOURCES[word]
    tools = scope.toolbox.tools.values()
    if word == "http" or not scope.toolbox.is_complete or any(source in (tool.origin or {}) for tool in tools):
        return
    message = f"`environment: {word}` calls the tools of `{source}:` sources, and this file has none"
    scope.faults.add("wrong-value", node, message, f"add a source `{source}: …` to `tools:`")


def setup(node: Node, scope: Scope) -> Mapping[str, Json]:
    """The state that the environment starts with."""
    return node_values.values(node, scope.faults, "`setup`")


def stubs(node: Node, scope: Scope) -> Mapping[str, Json]:
    """Results by the name of the tool."""
    found = node_values.entries(node, scope.faults, "`stubs`")
    for name, (key, _) in found.items():
        check_tool_name(key, name, scope)
    return {name: node_values.value(pair[1], scope.faults) for name, pair in found.items()}


def unmatched_result(node: Node, scope: Scope) -> tuple[Json]:
    """The result of a call that nothing else answers, in a tuple because it may be null."""
    return (node_values.value(node, scope.faults),)


def max_steps(node: Node, scope: Scope) -> int:
    """The largest number of requests in a turn."""
    return node_values.integer(node, scope.faults, "`max_steps`", least=1)


_USER_KEYS = ("script", "model", "goal", "most")


def user(node: Node, scope: Scope) -> User:
    """`{script: [...]}`, or `{goal: TEXT}` with the model that plays the user."""
    from pytest_fcall.core.conversation import User

    faults = scope.faults
    found = node_values.entries(node, faults, "`user`", _USER_KEYS)
    if "script" in found:
        for name in ("model", "goal", "most"):
            if name in found:
                message = f"`script` and `{name}` exclude each other"
                faults.add("contradiction", found.key(name), message, f"leave `{name}` out")
        lines = node_values.items(found["script"][1], faults, "`script`")
        if not lines and not faults:
            faults.add("wrong-value", found["script"][1], "`script` is empty")
        return User(script=tuple(node_values.word(line, faults, "a line of the script") for line in lines))
    if "goal" not in found:
        if isinstance(node, MappingNode):
            hint = "such as `user: {goal: a table for two tonight}`, or `user: {script: [At eight., Thanks!]}`"
            faults.add("missing-key", node, "`user` needs a `script` or a `goal`", hint)
        return User()
    return User(
        model=found.read("model", node_values.word, faults, "`model`"),
        goal=node_values.word(found["goal"][1], faults, "`goal`"),
        most=node_values.integer(found["most"][1], faults, "`most`", least=1) if "most" in found else 10,
    )


def inject(node: Node, scope: Scope) -> tuple[Injection, ...]:
    """The attacks on a case."""
    from pytest_fcall.cases.injections import injections

    return injections(node, scope)


def result_faults(node: Node, scope: Scope) -> tuple[ResultFault, ...]:
    """The results of a case that are faulty on purpose."""
    from pytest_fcall.cases.faulty_results import result_faults

    return result_faults(node, scope)


OPTION_READERS: Mapping[str, Callable[[Node, Scope], object]] = MappingProxyType(
    {
        "system": system,
        "now": now,
        "tags": tags,
        "category": category,
        "strings": strings,
        "profile": profile,
        "language": language,
        "skip": skip,
        "xfail": xfail,
        "samples": samples,
        "variants": variants,
        "settings": settings,
        "decoder": decoder,
        "retrieve": retrieval,
        "environment": environment,
        "setup": setup,
        "stubs": stubs,
        "unmatched": unmatched_result,
        "max_steps": max_steps,
        "user": user,
        "inject": inject,
        "faults": result_faults,
        "never": never,
    }
)
DEFAULT_KEYS = tuple(OPTION_READERS)
OPTION_KEYS = frozenset(DEFAULT_KEYS) - {"never"}
"""The keys of a case; forbidden calls of a single case are a part of its `expect:`."""
