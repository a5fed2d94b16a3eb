"""Pages of HTML in one file: a template with its style, script and data, and what a browser may do with them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pytest_fcall.core.values import Json

STYLE: Final = Path(__file__).parent / "page/style.css"
"""The style that all pages share."""


class HtmlFile:
    """A template with its styles and scripts."""

    def __init__(self, template: Path, styles: Sequence[Path], scripts: Sequence[Path]) -> None:
        self._template = _environment(template.parent).get_template(template.name)
        self._style, self._script = _joined(styles), _joined(scripts)

    def text(self, **values: object) -> Iterator[str]:
        """The text of a page with these values, portion by portion."""
        yield from self._template.generate(
            policy=_policy(self._style, self._script),
            style=Markup(self._style),  # noqa: S704  # a file of this package
            script=Markup(self._script),  # noqa: S704  # a file of this package
            **values,
        )


def script_data(data: Json) -> Markup:
    """Data for the script of a page, as JSON that may stand in it: it ends no element."""
    return Markup(_compact(data).replace("<", "\\u003c"))  # noqa: S704  # it holds no `<`


def pack_data(data: Json) -> str:
    """Data that the script of a page unpacks when somebody looks at it: compressed JSON in Base64."""
    return base64.b64encode(zlib.compress(_compact(data).encode(), 6)).decode()


def _compact(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"))


def _joined(paths: Sequence[Path]) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def _environment(folder: Path) -> Environment:
    """The templates of a folder, each of which it compiles once."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(style: str, script: str) -> str:
    """The rights of the page in a browser: run this script and use this style, and ask nobody for anything."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
