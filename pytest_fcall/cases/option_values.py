"""`skip`, `xfail`, `samples`, `settings`, `retrieve`, `environment` and `user`: one reader each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final, cast, get_args

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, did_you_mean, one_of, shown
from pytest_fcall.cases.node_values import one_or_many
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.tags import STR
from pytest_fcall.core import Condition, Json, Samples, User
from pytest_fcall.core.case import Retrieval, RetrieverName

_RATE = re.compile(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)")


def conditions(node: Node, faults: Faults, what: str) -> tuple[Condition, ...]:
    """A reason, a mapping of reason and models, or a list of these."""
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return tuple(_condition(item, faults, what) for item in nodes)


def samples(node: Node, faults: Faults) -> Samples:
    """A number, `auto`, or a mapping of these with a rule."""
    if not isinstance(node, MappingNode):
        return Samples(_sample_count(node, faults))
    found = node_values.entries(node, faults, "`samples`")
    node_values.known_only(found, ("count", "rule"), faults, "`samples`")
    rule = node_values.text(found["rule"][1], faults, "the rule of `samples`") if "rule" in found else "all"
    if rule and rule not in {"all", "any"} and not _RATE.fullmatch(rule):
        faults.add("wrong-value", found["rule"][1], f"{shown(rule)} is no rule", "all, any, or such as rate>=0.8")
    if "count" in found:
        return Samples(_sample_count(found["count"][1], faults), rule)
    faults.add("missing-key", node, "`samples` needs a `count`", "a number, or `auto`")
    return Samples(1, rule)


def _condition(node: Node, faults: Faults, what: str) -> Condition:
    if isinstance(node, ScalarNode):
        return Condition(_reason(node, faults, what))
    found = node_values.entries(node, faults, what)
    node_values.known_only(found, ("reason", "models"), faults, what)
    models = one_or_many(found["models"][1], faults, "a model") if "models" in found else ()
    if "reason" not in found:
        if found:
            faults.add("missing-key", node, f"{what} needs a `reason`", "say in a few words why")
        return Condition("")
    return Condition(_reason(found["reason"][1], faults, what), tuple(name for name, _ in models))


def _reason(node: Node, faults: Faults, what: str) -> str:
    if isinstance(node, ScalarNode) and (node.tag != STR or not node.value.strip()):
        faults.add("missing-key", node, f"{what} needs a reason", f"such as `{what.strip('`')}: drops the second call`")
        return ""
    return node_values.text(node, faults, what)


def _sample_count(node: Node, faults: Faults) -> int | None:
    if isinstance(node, ScalarNode) and node.value == "auto":
        return None
    return node_values.integer(node, faults, "`samples`", least=1)


_CHOICES = ("auto", "none", "required")


def settings(node: Node, scope: Scope) -> dict[str, Json]:
    """All settings; of those that are known the values are checked."""
    found = node_values.entries(node, scope.faults, "`settings`")
    return {name: _KNOWN.get(name, _any)(pair[1], name, scope) for name, pair in found.items()}


def _any(node: Node, _: str, scope: Scope) -> Json:
    return node_values.value(node, scope.faults)


def _not_negative(node: Node, name: str, scope: Scope) -> Json:
    value = node_values.number(node, scope.faults, f"`{name}`")
    if value < 0:
        scope.faults.add("wrong-value", node, f"`{name}` may not be below zero")
    return value


def _share(node: Node, name: str, scope: Scope) -> Json:
    value = node_values.number(node, scope.faults, f"`{name}`")
    if not 0 <= value <= 1:
        scope.faults.add("wrong-value", node, f"`{name}` must be from 0 to 1")
    return value


def _number(node: Node, name: str, scope: Scope) -> Json:
    return node_values.number(node, scope.faults, f"`{name}`")


def _integer(node: Node, name: str, scope: Scope) -> Json:
    return node_values.integer(node, scope.faults, f"`{name}`")


def _positive_integer(node: Node, name: str, scope: Scope) -> Json:
    return node_values.integer(node, scope.faults, f"`{name}`", least=1)


def _flag(node: Node, name: str, scope: Scope) -> Json:
    return node_values.boolean(node, scope.faults, f"`{name}`")


def _tool_choice(node: Node, name: str, scope: Scope) -> Json:
    if not isinstance(node, ScalarNode):
        return node_values.value(node, scope.faults)
    word = node_values.word(node, scope.faults, f"`{name}`")
    if word in _CHOICES or not word:
        return word
    if word not in scope.toolbox.tools and scope.toolbox.complete:
        hint = did_you_mean(word, (*_CHOICES, *scope.toolbox.tools)) or f"{one_of(_CHOICES)}, or a tool's name"
        scope.faults.add("wrong-value", node, f"`{name}` cannot be {shown(word)}", hint)
    return {"type": "function", "function": {"name": word}}


_KNOWN: Mapping[str, Callable[[Node, str, Scope], Json]] = MappingProxyType(
    {
        "temperature": _not_negative,
        "top_p": _share,
        "frequency_penalty": _number,
        "presence_penalty": _number,
        "max_tokens": _positive_integer,
        "seed": _integer,
        "tool_choice": _tool_choice,
        "parallel_tool_calls": _flag,
    }
)
KNOWN_SETTINGS = tuple(_KNOWN)


RETRIEVE_KEYS = ("with", "k", "model")
_LIBRARIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"bm25": ("rank_bm25", "retrieval"), "embeddings": ("sentence_transformers", "embeddings")}
)
"""The module that each needs, and the extra that brings it."""


def retrieval(node: Node, scope: Scope) -> Retrieval:
    """`{with: bm25, k: 5}`, or `{with: embeddings, model: NAME}`, where `python:module:function` may be the name."""
    faults = scope.faults
    found = node_values.entries(node, faults, "`retrieve`")
    node_values.known_only(found, RETRIEVE_KEYS, faults, "`retrieve`")
    k = node_values.integer(found["k"][1], faults, "`k`", least=1) if "k" in found else 5
    if "with" not in found:
        if isinstance(node, MappingNode):
            faults.add("missing-key", node, "`retrieve` needs a `with`", "such as `retrieve: {with: bm25, k: 5}`")
        return Retrieval("bm25", k)
    by = cast("RetrieverName", node_values.choice(found["with"][1], faults, "`with`", get_args(RetrieverName)))
    model = node_values.text(found["model"][1], faults, "`model`") if "model" in found else None
    if not (model and model.startswith("python:")):
        _check_library(by, found["with"][1], scope)
    if by == "embeddings" and not model:
        faults.add(
            "missing-key",
            node,
            "`embeddings` need a `model`",
            "the name of one for sentence-transformers, or python:module:function",
        )
    if by != "embeddings" and "model" in found:
        faults.add("contradiction", found["model"][0], f"`{by}` has no model", "leave `model` out")
    return Retrieval(by, k, model)


def _check_library(by: str, node: Node, scope: Scope) -> None:
    module, extra = _LIBRARIES.get(by, ("", ""))
    if module and find_spec(module) is None:
        message = f"`with: {by}` needs the library {module.replace('_', '-')}, which is not installed"
        scope.faults.add("not-installed", node, message, f"pip install 'pytest-fcall[{extra}]'")


ENVIRONMENT_SOURCES: Final = MappingProxyType({"python": "python", "mcp": "mcp", "http": "openapi"})
"""The words that have calls answered by what the tools were read from, and the source that each is for."""

_NAME = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_TARGET = re.compile(rf"{_NAME}(:{_NAME})?")


def environment(node: Node, scope: Scope) -> str:
    """One of the words, a module, or `module:callable`."""
    target = node_values.word(node, scope.faults, "`environment`")
    if not target:
        return target
    if not _TARGET.fullmatch(target):
        hint = f"such as shop.fake:make, or one of {', '.join(ENVIRONMENT_SOURCES)}"
        scope.faults.add("wrong-value", node, f"{shown(target)} is no `module:callable` and no module", hint)
    elif target in ENVIRONMENT_SOURCES:
        _check_source(target, node, scope)
    elif (meant := did_you_mean(target, ENVIRONMENT_SOURCES)) and find_spec(
        target.partition(".")[0].partition(":")[0]
    ) is None:
        scope.faults.add("wrong-value", node, f"there is no module {shown(target)}", meant)
    return target


def _check_source(word: str, node: Node, scope: Scope) -> None:
    """Tell of a word that none of the tools goes with; HTTP carries out commands of curl, too, for any tools."""
    source = ENVIRONMENT_SOURCES[word]
    tools = scope.toolbox.tools.values()
    if word == "http" or not scope.toolbox.complete or any(source in (tool.origin or {}) for tool in tools):
        return
    message = f"`environment: {word}` calls the tools of `{source}:` sources, and this file has none"
    scope.faults.add("wrong-value", node, message, f"add a source `{source}: …` to `tools:`")


USER_KEYS = ("script", "model", "goal", "most")


def user(node: Node, scope: Scope) -> User:
    """`{script: [...]}`, or `{goal: TEXT}` with the model that plays the user."""
    faults = scope.faults
    found = node_values.entries(node, faults, "`user`")
    node_values.known_only(found, USER_KEYS, faults, "`user`")
    if "script" in found:
        for name in ("model", "goal", "most"):
            if name in found:
                message = f"`script` and `{name}` exclude each other"
                faults.add("contradiction", found[name][0], message, "a script says it all")
        lines = node_values.items(found["script"][1], faults, "`script`")
        if not lines and not faults.found:
            faults.add("wrong-value", found["script"][1], "this `script` is empty, so that nobody goes on talking")
        return User(script=tuple(node_values.word(line, faults, "a line of the script") for line in lines))
    if "goal" not in found:
        if isinstance(node, MappingNode):
            hint = "such as `user: {goal: a table for two tonight}`, or `user: {script: [At eight., Thanks!]}`"
            faults.add("missing-key", node, "`user` needs a `script`, or a `goal`", hint)
        return User()
    model = node_values.word(found["model"][1], faults, "`model`") if "model" in found else None
    return User(
        model=model,
        goal=node_values.word(found["goal"][1], faults, "`goal`"),
        most=node_values.integer(found["most"][1], faults, "`most`", least=1) if "most" in found else 10,
    )
