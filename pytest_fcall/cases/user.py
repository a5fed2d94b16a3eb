"""`user:` of a case: who goes on talking when the model has answered."""

from __future__ import annotations

from yaml import MappingNode, Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import User

USER_KEYS = ("script", "model", "goal", "most")


def user(node: Node, scope: Scope) -> User:
    """`{script: [...]}`, or `{goal: TEXT}` with the model that plays the user."""
    faults = scope.faults
    found = fields.entries(node, faults, "`user`")
    fields.known_only(found, USER_KEYS, faults, "`user`")
    if "script" in found:
        for name in ("model", "goal", "most"):
            if name in found:
                message = f"`script` and `{name}` exclude each other"
                faults.add("contradiction", found[name][0], message, "a script says it all")
        lines = fields.items(found["script"][1], faults, "`script`")
        if not lines and not faults.found:
            faults.add("wrong-value", found["script"][1], "this `script` is empty, so that nobody goes on talking")
        return User(script=tuple(fields.word(line, faults, "a line of the script") for line in lines))
    if "goal" not in found:
        if isinstance(node, MappingNode):
            hint = "such as `user: {goal: a table for two tonight}`, or `user: {script: [At eight., Thanks!]}`"
            faults.add("missing-key", node, "`user` needs a `script`, or a `goal`", hint)
        return User()
    model = fields.word(found["model"][1], faults, "`model`") if "model" in found else None
    return User(
        model=model,
        goal=fields.word(found["goal"][1], faults, "`goal`"),
        most=fields.integer(found["most"][1], faults, "`most`", least=1) if "most" in found else 10,
    )
