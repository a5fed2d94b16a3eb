"""The classes behind the multi-turn categories, as an environment: `pytest_fcall.suites.bfcl.world:make`.

They come with the official package, `bfcl-eval`, of which nothing but the modules of these classes is imported.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

Config: TypeAlias = Mapping[str, Mapping[str, Any]]
"""How instances are set up, by the names of their classes."""


def make(classes: Sequence[str], config: Config | None = None, long_context: bool = False) -> dict[str, object]:
    """Make fresh instances of these classes, each set up as its entry in `config` says.

    Their public methods are the tools; where two share a name, that of the later class is called, as the official
    checker has it. The state is the instances, by the names of their classes.
    """
    world: dict[str, object] = {}
    for name, instance in instances_of(classes, config, long_context).items():
        world |= methods_of(instance)
        world[name] = instance
    return world


def instances_of(classes: Sequence[str], config: Config | None = None, long_context: bool = False) -> dict[str, object]:
    """Make fresh instances, by the names of their classes."""
    constants = _constants()
    made = {}
    for name in classes:
        instance = _class(name, constants)()
        if name not in constants.STATELESS_CLASSES:
            scenario = deepcopy((config or {}).get(name, {}))
            instance._load_scenario(scenario, long_context=long_context)  # noqa: SLF001  # how its own checker does it
        made[name] = instance
    return made


def import_classes() -> None:
    """Import the modules of all classes. Raises ImportError, in words, where one cannot be."""
    constants = _constants()
    for name in constants.CLASS_FILE_PATH_MAPPING:
        if name not in constants.OMIT_STATE_INFO_CLASSES:
            _class(name, constants)


def methods_of(instance: object) -> dict[str, Callable[..., object]]:
    """The public methods of an instance."""
    found = inspect.getmembers(instance, predicate=inspect.ismethod)
    return {name: method for name, method in found if not name.startswith("_")}


def class_of(name: str) -> Any:
    """One of the classes, whatever it needs. Raises ImportError, in words, where it cannot be imported."""
    return getattr(_imported(_constants().CLASS_FILE_PATH_MAPPING[name]), name)


def _constants() -> Any:
    return _imported("bfcl_eval.constants.executable_backend_config")


def _class(name: str, constants: Any) -> Any:
    known = constants.CLASS_FILE_PATH_MAPPING
    elsewhere = constants.OMIT_STATE_INFO_CLASSES  # they need models, the network or files of other runs
    if name not in known or name in elsewhere:
        offered = ", ".join(each for each in known if each not in elsewhere)
        raise ValueError(f"{name!r} is none of the classes of BFCL that can be called here: {offered}")
    return getattr(_imported(known[name]), name)


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"the classes of BFCL are in its official package, which is not installed here ({error}): "
            "pip install --no-deps bfcl-eval mpmath"
        ) from error
