"""`variants:`, the relations that cases are varied by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import one_of, quote
from pytest_fcall.cases.files import find_file, read_data
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.values import INT, NULL
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.variants import MOST_VARIANTS, RELATIONS, ParameterKind, RelationSpec, WantedRelation
from pytest_fcall.schema.errors import SchemaError

if TYPE_CHECKING:
    from pytest_fcall.core.request import Tool
    from pytest_fcall.core.values import Json

_COMMON: Final = ("count", "samples")
_MOST_TOOLS: Final = 200


def read_variants(node: Node, scope: Scope) -> tuple[WantedRelation, ...]:
    """`none`, `all`, or a list of relations: `[tool_order, typos: 3, distractors: {tools: 5}]`."""
    specs = _known(scope)
    if isinstance(node, ScalarNode):
        return _read_word(node, scope, specs)
    found: dict[str, WantedRelation] = {}
    nodes = node_values.items(node, scope.faults, "`variants`")
    if not nodes and isinstance(node, SequenceNode):
        scope.faults.add("wrong-value", node, "`variants` is empty", "write `variants: none` for no variants")
    for item in nodes:
        wanted = _read_relation(item, scope, specs)
        if wanted is None:
            continue
        if wanted.name in found:
            message = f"{quote(wanted.name)} is there twice"
            scope.faults.add("contradiction", item, message, "give it a `count` instead")
        found[wanted.name] = wanted
    return tuple(found.values())


def _known(scope: Scope) -> Mapping[str, RelationSpec]:
    return {**RELATIONS, **{name: each.spec for name, each in scope.extensions.relations.items()}}


def _read_word(node: ScalarNode, scope: Scope, specs: Mapping[str, RelationSpec]) -> tuple[WantedRelation, ...]:
    word = node_values.word(node, scope.faults, "`variants`")
    if word == "all":
        return tuple(WantedRelation(name) for name, spec in specs.items() if not spec.needed)
    if word and word != "none":
        hint = f"such as `variants: [{word}]`" if word in specs else "`none`, `all`, or a list such as [tool_order]"
        scope.faults.add("wrong-value", node, f"`variants` cannot be {quote(word)}", hint)
    return ()


def _read_relation(node: Node, scope: Scope, specs: Mapping[str, RelationSpec]) -> WantedRelation | None:
    """A name, or a mapping of one to a number of variants or to parameters."""
    key: Node = node
    value: Node | None = None
    if isinstance(node, MappingNode):
        if len(node.value) != 1:
            message = "a relation is a name, or one name with its parameters"
            scope.faults.add("wrong-value", node, message, "such as `- typos: 3`")
            return None
        ((key, value),) = node.value
    name = node_values.word(key, scope.faults, "a relation")
    if not name:
        return None
    if name not in specs:
        hint = did_you_mean(name, specs) or one_of(specs)
        scope.faults.add("unknown-name", key, f"there is no relation {quote(name)}", hint)
        return None
    if value is None or value.tag == NULL:
        value = None
    elif value.tag == INT:
        return WantedRelation(name, _count(value, scope, f"the number of variants by `{name}`"))
    elif not isinstance(value, MappingNode):
        node_values.wrong_type(value, scope.faults, f"`{name}`", "a number of variants, or a mapping of parameters")
        return None
    return _with_parameters(key, name, value, specs[name], scope)


def _with_parameters(key: Node, name: str, node: Node | None, spec: RelationSpec, scope: Scope) -> WantedRelation:
    what = f"`{name}`"
    known = (*_COMMON, *spec.parameters)
    found = node_values.entries(node, scope.faults, what, known) if node is not None else node_values.Entries()
    counts = {each: _count(found[each][1], scope, f"`{each}`") for each in _COMMON if each in found}
    options: dict[str, Json] = {}
    tools: tuple[Tool, ...] | None = None
    for parameter, kind in spec.parameters.items():
        if parameter not in found:
            if parameter in spec.needed:
                scope.faults.add(
                    "missing-key", node or key, f"{what} needs `{parameter}`", f"such as {{{parameter}: …}}"
                )
        elif kind == "tools":
            tools = _tools(found[parameter][1], scope)
        else:
            options[parameter] = _option(found[parameter][1], kind, f"`{parameter}`", scope)
    return WantedRelation(name, counts.get("count", 1), counts.get("samples", 1), options, tools)


def _count(node: Node, scope: Scope, what: str) -> int:
    return max(node_values.integer(node, scope.faults, what, least=1, most=MOST_VARIANTS), 1)


def _option(node: Node, kind: ParameterKind, what: str, scope: Scope) -> Json:
    if kind == "count":
        return node_values.integer(node, scope.faults, what, least=1, most=_MOST_TOOLS)
    if kind == "flag":
        return node_values.boolean(node, scope.faults, what)
    return node_values.word(node, scope.faults, what)


def _tools(node: Node, scope: Scope) -> tuple[Tool, ...] | None:
    """The tools of this file for `file`, those of another file for its path; None for `catalogue`, those of ours."""
    word = node_values.word(node, scope.faults, "`from`")
    if word == "catalogue":
        return None
    if word == "file":
        return scope.toolbox.catalogue
    path = find_file(node, scope.folder, scope.reach, scope.faults)
    if path is None:
        return ()
    before = len(scope.faults)
    data = read_data(path, node, scope.faults)
    if len(scope.faults) > before:
        return ()
    from pytest_fcall.schema.sources.tool_data import tools_from_data

    entries = data.get("tools") if isinstance(data, Mapping) and "name" not in data else None
    if isinstance(entries, list):  # a case file, or one that others include, may name sources beside its own tools
        written = [each for each in entries if isinstance(each, Mapping) and not _is_source(each)]
        data = {"tools": written}
    try:
        tools = tuple(tools_from_data(data, source=word))
    except SchemaError as error:
        scope.faults.add("bad-tool", node, f"{quote(word)}: {error.message}", error.hint)
        return ()
    if not tools:
        scope.faults.add("bad-tool", node, f"{quote(word)} has no tools that are written out")
    return tools


def _is_source(entry: Mapping[str, Json]) -> bool:
    return not any(key in entry for key in ("name", "function", "toolSpec"))
