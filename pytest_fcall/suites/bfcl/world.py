"""The classes of the multi-turn categories as an environment: `pytest_fcall.suites.bfcl.world:make`.

They are part of the official package, `bfcl-eval`. Only the modules of these classes are imported.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

Config: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The initial states of instances, by the names of their classes."""


def make(classes: Sequence[str], config: Config | None = None, long_context: bool = False) -> dict[str, object]:
    """Make new instances of these classes, with their initial states from `config`.

    Their public methods are the tools. If two classes have a method of one name, that of the later class is called, as
    in the official checker. The state is the instances, by the names of their classes.
    """
    names: dict[str, object] = {}
    for name, instance in instances_of(classes, config, long_context).items():
        names |= methods_of(instance)
        names[name] = instance
    return names


def instances_of(classes: Sequence[str], config: Config | None = None, long_context: bool = False) -> dict[str, object]:
    """Make new instances, by the names of their classes."""
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
    """Import the modules of all classes. Raises ImportError, with the way to install them."""
    constants = _constants()
    for name in constants.CLASS_FILE_PATH_MAPPING:
        if name not in constants.OMIT_STATE_INFO_CLASSES:
            _class(name, constants)


def methods_of(instance: object) -> dict[str, Callable[..., object]]:
    """Return the public methods of an instance."""
    found = inspect.getmembers(instance, predicate=inspect.ismethod)
    return {name: method for name, method in found if not name.startswith("_")}


def class_of(name: str) -> Any:
    """Return a class, also one that needs models or the network. Raises ImportError, with the way to install it."""
    return getattr(_imported(_constants().CLASS_FILE_PATH_MAPPING[name]), name)


def _constants() -> Any:
    return _imported("bfcl_eval.constants.executable_backend_config")


def _class(name: str, constants: Any) -> Any:
    known = constants.CLASS_FILE_PATH_MAPPING
    excluded = constants.OMIT_STATE_INFO_CLASSES  # they need models, the network or files of other runs
    if name not in known or name in excluded:
        available = ", ".join(each for each in known if each not in excluded)
        raise ValueError(f"no class {name!r} of BFCL that can be called here; available: {available}")
    return getattr(_imported(known[name]), name)


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"the classes of BFCL are in its official package, which cannot be imported ({error}): "
            "pip install --no-deps bfcl-eval mpmath"
        ) from error
