"""Environment variables as `${NAME}` in addresses, headers and environments, which keeps secrets out of case files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fcall.schema.errors import SchemaError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace each `${NAME}` by its value in `environment`. Raises SchemaError if it is not set."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in environment:
            raise SchemaError(f"the environment variable {name} is not set", hint=f"export {name}=…, then try again")
        return environment[name]

    return _VARIABLE.sub(value, text)
