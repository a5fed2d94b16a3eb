"""The models of the leaderboard's package: their names in its tables, their makers, and the prices of tokens.

Its modules are read, and not imported: they import the SDK of every vendor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.suites.bfcl.rows import find_data_folder
from pytest_fcall.suites.original_code import parse_module

_MODELS: Final = Path("constants/model_config.py")
_SETTINGS: Final = Path("constants/eval_config.py")
_GPU_PRICE: Final = ("H100_X8_PRICE_PER_HOUR", "LOCAL_SERVER_MAX_CONCURRENT_REQUEST")


class KnownModel(NamedTuple):
    """A model of the leaderboard."""

    title: str
    link: str
    maker: str
    licence: str
    input_price: float | None
    output_price: float | None
    """US dollars for a million tokens; None for models that run on one's own machines."""


class GpuPrice(NamedTuple):
    """The price of a model on one's own machines: US dollars an hour, in which it answers so many requests at once."""

    hour: float
    requests: float


class KnownModels(NamedTuple):
    """The models that the package knows."""

    models: Mapping[str, KnownModel]
    """By the names of their folders."""
    gpu_price: GpuPrice | None = None

    def get(self, name: str) -> KnownModel | None:
        """Return the model of this name, as a folder or as the harness has it."""
        return self.models.get(folder_name(name))


def folder_name(name: str) -> str:
    """Return the name of a model as that of a folder."""
    return name.replace("/", "_")


def package_folder(cases: Path) -> Path:
    """Return the folder of the package that has these cases, or else that is installed."""
    folders = (find_data_folder(place) for place in (cases, None))
    inside = (folder.parent for folder in folders if folder)
    return next((each for each in inside if (each / _MODELS).is_file()), cases)


def known_models(package: Path) -> KnownModels:
    """Read the folder of the package; what is not there, or is not written as expected, is not known."""
    constants = {name: value for name, value in _assigned(package / _SETTINGS) if name in _GPU_PRICE}
    hour, requests = (_number(constants.get(name)) for name in _GPU_PRICE)
    return KnownModels(
        {folder_name(name): model for name, model in _models(package / _MODELS)},
        GpuPrice(hour, requests) if hour and requests else None,
    )


def _models(path: Path) -> Iterator[tuple[str, KnownModel]]:
    for _, value in _assigned(path):
        for key, entry in zip(value.keys, value.values, strict=True) if isinstance(value, ast.Dict) else ():
            name = _literal(key)
            if isinstance(name, str) and isinstance(entry, ast.Call):
                yield name, _model(name, {each.arg or "": _literal(each.value) for each in entry.keywords})


def _model(name: str, fields: Mapping[str, object]) -> KnownModel:
    link, maker, licence = (str(fields.get(field, "N/A")) for field in ("url", "org", "license"))
    prices = (fields.get(field) for field in ("input_price", "output_price"))
    input_price, output_price = (float(each) if isinstance(each, int | float) else None for each in prices)
    return KnownModel(str(fields.get("display_name", name)), link, maker, licence, input_price, output_price)


def _assigned(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """The names and values of a module's plain assignments."""
    try:
        module = parse_module(path)
    except ValueError:
        return
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield statement.targets[0].id, statement.value


def _literal(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _number(node: ast.expr | None) -> float | None:
    value = _literal(node)
    return float(value) if isinstance(value, int | float) else None
