"""Messages to the model: prompts, system messages, whole conversations, pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import quote
from pytest_fcall.cases.files import find_file, read_bytes, read_data, read_string
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.yaml.values import NULL
from pytest_fcall.core.values import Json, Message

ROLES = ("system", "developer", "user", "assistant", "tool")
_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id", "refusal")
_MEDIA_TYPES: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x89PNG": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
        b"RIFF": "image/webp",
    }
)


class Messages:
    """Reads the messages of one case."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._faults = scope.faults

    def content(self, node: Node, what: str) -> Json:
        """A string, `{file: PATH}`, or a list of parts."""
        if not isinstance(node, SequenceNode):
            return self.text(node, what)
        parts = [self._part(item) for item in node_values.items(node, self._faults, what)]
        if not parts and not self._faults:
            self._faults.add("wrong-value", node, f"{what} is empty")
        return parts

    def text(self, node: Node, what: str) -> str:
        """A string that is not empty, or `{file: PATH}`."""
        path = self._file(node)
        if path is not None:
            text = read_string(path, self._scope.folder, self._scope.reach, self._faults)
            return self._scope.placeholders.fill_text(text, path, self._faults)
        return node_values.word(node, self._faults, what)

    def messages(self, node: Node) -> tuple[Message, ...]:
        """A list of messages in OpenAI's form, or `{file: PATH}`."""
        path = self._file(node)
        if path is not None:
            found = self._from_file(path)
            if found is None:
                return ()
            node = found
        nodes = node_values.items(node, self._faults, "`messages`", "begin each message with `- role: `")
        messages = tuple(self._message(item) for item in nodes)
        if isinstance(node, SequenceNode) and not messages:
            self._faults.add("wrong-value", node, "this list of messages is empty")
        return messages

    def _from_file(self, path: Node) -> Node | None:
        found = find_file(path, self._scope.folder, self._scope.reach, self._faults)
        data = None if found is None else read_data(found, path, self._faults)
        if data is None:
            return None
        from pytest_fcall.cases.yaml.values import nodes_from_python

        if isinstance(data, Mapping) and "messages" in data:
            data = data["messages"]
        try:
            return self._scope.placeholders.fill_node(nodes_from_python(data, path), self._faults)
        except ValueError as error:
            self._faults.add("bad-file", path, str(error))
            return None

    def _file(self, node: Node) -> Node | None:
        """The path in `{file: PATH}`; None if the node is anything else."""
        if isinstance(node, MappingNode) and len(node.value) == 1 and node.value[0][0].value == "file":
            path: Node = node.value[0][1]
            return path
        return None

    def _message(self, node: Node) -> Message:
        found = node_values.entries(node, self._faults, "a message", _KEYS)
        if not isinstance(node, MappingNode):
            return {}
        if "role" not in found:
            self._faults.add("missing-key", node, "this message has no `role`", "such as {role: user, content: Hello}")
            return {}
        role = node_values.choice(found["role"][1], self._faults, "a role", ROLES, "user")
        message: dict[str, Json] = {"role": role}
        if "content" in found:
            message["content"] = self._message_content(found["content"][1], role)
        elif "tool_calls" not in found:
            self._faults.add("missing-key", node, "this message has no `content`")
        for name in ("name", "tool_call_id", "refusal"):
            if name in found:
                message[name] = node_values.word(found[name][1], self._faults, f"`{name}`")
        if role == "tool" and "tool_call_id" not in found:
            self._faults.add("missing-key", node, "a message of a tool needs the `tool_call_id` that it answers")
        if "tool_calls" in found:
            calls = node_values.items(found["tool_calls"][1], self._faults, "`tool_calls`", "")
            message["tool_calls"] = [self._call(call) for call in calls]
        return message

    def _message_content(self, node: Node, role: str) -> Json:
        if role == "assistant" and node.tag == NULL:
            return None
        if isinstance(node, ScalarNode):
            return node_values.text(node, self._faults, "`content`")
        return self.content(node, "`content`")

    def _call(self, node: Node) -> Json:
        found = node_values.entries(node, self._faults, "a tool call", ("id", "type", "function"))
        form = "such as {id: c1, type: function, function: {name: search, arguments: '{}'}}"
        if "function" not in found or "id" not in found:
            self._faults.add("missing-key", node, "a tool call needs an `id` and a `function`", form)
            return {}
        function = node_values.entries(found["function"][1], self._faults, "`function`", ("name", "arguments"))
        if "name" not in function or "arguments" not in function:
            self._faults.add("missing-key", node, "a function needs a `name` and `arguments`", form)
            return {}
        return {
            "id": node_values.text(found["id"][1], self._faults, "`id`"),
            "type": "function",
            "function": {
                "name": node_values.text(function["name"][1], self._faults, "`name`"),
                "arguments": node_values.text(function["arguments"][1], self._faults, "`arguments`"),
            },
        }

    def _part(self, node: Node) -> Json:
        if isinstance(node, ScalarNode):
            return {"type": "text", "text": node_values.text(node, self._faults, "a part")}
        found = node_values.entries(node, self._faults, "a part")
        if "type" in found:
            return {name: node_values.value(pair[1], self._faults) for name, pair in found.items()}
        node_values.check_keys(found, ("image",), self._faults, "a part")
        return self._image(found["image"][1]) if "image" in found else {}

    def _image(self, node: Node) -> Json:
        found = read_bytes(node, self._scope.folder, self._scope.reach, self._faults)
        if found is None:
            return {}
        path, data = found
        media_type = next((name for magic, name in _MEDIA_TYPES.items() if data.startswith(magic)), None)
        if media_type is None:
            hint = "supported: PNG, JPEG, GIF and WebP"
            self._faults.add("bad-file", node, f"{quote(node.value)} is not a supported picture", hint)
            return {}
        sha256 = hashlib.sha256(data).hexdigest()
        return {"type": "image_file", "image_file": {"path": str(path), "media_type": media_type, "sha256": sha256}}
