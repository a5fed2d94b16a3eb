"""The module of an app or an agent: found without being imported, then imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core import ModelUnavailable

if TYPE_CHECKING:
    from pytest_fcall.backends.apps.agents.agent import UnreadTool
    from pytest_fcall.backends.apps.python import AppFunction
    from pytest_fcall.core import Tool
    from pytest_fcall.core.extension import AgentKind


_NO_AGENTS: Mapping[str, AgentKind] = MappingProxyType({})


def check_app(name: str, root: Path) -> None:
    """Raise ModelUnavailable where the module of `module:function` is nowhere to be found. Nothing is imported."""
    module_name, _ = _module_and_path(name, root)
    folders: Sequence[str] | None = None
    module = ""
    for part in module_name.split("."):
        module = f"{module}.{part}" if module else part
        inside = _folders_inside(module, folders)
        if inside is None:
            raise _no_module(name, module, part, [str(root)] if folders is None else folders, root)
        folders = inside


def _folders_inside(module: str, folders: Sequence[str] | None) -> Sequence[str] | None:
    """The folders of a module's own modules, none where it is no package; None where there is no such module."""
    if (loaded := sys.modules.get(module)) is not None:
        return getattr(loaded, "__path__", ())
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find and (spec := find(module, folders)):
            return spec.submodule_search_locations or ()
    return None


def _no_module(name: str, module: str, part: str, folders: Iterable[str], root: Path) -> ModelUnavailable:
    from pkgutil import iter_modules

    from pytest_fcall.schema.value_text import nearest

    meant = nearest(part, (found.name for found in iter_modules(folders)))
    hint = f"; did you mean `{module.removesuffix(part)}{meant}`?" if meant else ""
    return ModelUnavailable(f"python:{name}: no module {module!r}{hint}; searched in {root} and on sys.path")


def _module_and_path(name: str, root: Path) -> tuple[str, str]:
    """The parts of `module:function`; modules in the root folder become importable. Raises ModelUnavailable."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ModelUnavailable(f"python:{name}: write python:module:function, such as python:shop.agent:answer")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return module_name, path


def find_app(name: str, root: Path, agents: Mapping[str, AgentKind] = _NO_AGENTS) -> AppFunction:
    """Import the function or agent `module:name`; `agents` are those of other packages. Raises ModelUnavailable."""
    found = find_object(name, root)
    app = app_of(found, agents)
    if app is None:
        from pytest_fcall.backends.apps.agents.agent import known_agents

        path, kind = name.partition(":")[2], type(found).__name__
        text = f"{path} is a {kind}, which cannot be called; name a function, or an agent of {known_agents(agents)}"
        raise ModelUnavailable(f"python:{name}: {text}")
    return app


def app_of(thing: object, agents: Mapping[str, AgentKind] = _NO_AGENTS) -> AppFunction | None:
    """The app that this is: an agent, called as its framework wants it, or what can be called; None if it is none."""
    if not isinstance(thing, FunctionType):
        from pytest_fcall.backends.apps.agents.agent import agent_kind

        if kind := agent_kind(thing, agents):
            from pytest_fcall.backends.apps.agents.agent import AgentApp

            return AgentApp(thing, kind)
    return thing if callable(thing) else None


def find_object(name: str, root: Path) -> object:
    """Import `module:name`, also from the root folder. Raises ModelUnavailable with what to do."""
    module_name, path = _module_and_path(name, root)
    try:
        target: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _import_failure(name, module_name, root, error) from error
        raise ModelUnavailable(f"python:{name}: no module {error.name!r}; searched in {root} and on sys.path") from None
    except (Exception, SystemExit) as error:
        raise _import_failure(name, module_name, root, error) from error
    for part in path.split("."):
        try:
            target = getattr(target, part)
        except AttributeError:
            text = f"python:{name}: {module_name} has no {path!r}{_meant_text(part, target)}"
            raise ModelUnavailable(text) from None
    return target


def agent_tools(name: str, root: Path, source: str) -> tuple[list[Tool], list[UnreadTool]]:
    """Import the agent `module:name`, and read its tools, and what it offers besides. Raises SchemaError."""
    from pytest_fcall.backends.apps.agents.agent import agent_kind, known_agents, read_agent_tools
    from pytest_fcall.core.provider_variables import with_placeholder_keys
    from pytest_fcall.schema.errors import SchemaError

    if ":" not in name:
        raise SchemaError(f"`agent` names an object as module:name, not {name!r}", hint="such as shop.agent:agent")
    with with_placeholder_keys():
        try:
            agent = find_object(name, root)
        except ModelUnavailable as error:
            raise SchemaError(str(error).removeprefix(f"python:{name}: ")) from None
        kind = agent_kind(agent)
        if kind is None:
            message = f"this is a {type(agent).__name__}, and no agent of {known_agents()}"
            raise SchemaError(message, hint="name functions, or a list of them, by `python:`")
        try:
            return read_agent_tools(agent, kind, source)
        except SchemaError:
            raise
        except Exception as error:  # the code of a framework
            raise SchemaError(f"its tools cannot be read: {type(error).__name__}: {error}") from error


def _meant_text(name: str, owner: object) -> str:
    from pytest_fcall.schema.value_text import nearest

    meant = nearest(name, (other for other in dir(owner) if not other.startswith("_")))
    return f"; did you mean `{meant}`?" if meant else ""


def _import_failure(name: str, module: str, root: Path, error: BaseException) -> ModelUnavailable:
    """The error of a module that fails, with the place in the project."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(root)]
    place = f" at {Path(own[-1].filename).relative_to(root)}:{own[-1].lineno}" if own else ""
    return ModelUnavailable(f"python:{name}: importing {module} fails{place}: {type(error).__name__}: {error}")
