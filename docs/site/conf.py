"""The documentation as a site: Sphinx reads the pages as they are on GitHub, and Furo shows them.

Nothing is written down twice. The navigation is that of docs/README.md, the API that of the docstrings.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from pygments.lexers.data import JsonLexer
from pygments.lexers.special import TextLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/pytest-fcall/pytest-fcall"
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
"""The target of a link or an image, without its heading."""

sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from playground.site_files import write_site_files  # noqa: E402  it lies beside this file

project = "pytest-fcall"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
project_copyright = "the authors of pytest-fcall"
root_doc = "README"
source_suffix = {".md": "markdown"}
exclude_patterns = ["examples", "site"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_heading_anchors = 6
default_role = "code"
add_module_names = False
autodoc_default_options = {"undoc-members": True, "exclude-members": "__init__, __new__"}
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
python_use_unqualified_type_names = True
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [(script, {"defer": "defer"}) for script in ("versions.js", "site.js")]
html_copy_source = False
html_use_index = html_domain_indices = False
html_theme_options = {"top_of_page_buttons": []}


def read_page(_app: Sphinx, name: str, source: list[str]) -> None:
    """Lead links to what is no page into the repository, and give the first page the navigation."""
    page = DOCS / f"{name}.md"
    if page.exists():
        source[0] = LINK.sub(lambda link: _target(page, link[1]), source[0])
    if name == root_doc:
        source[0] += "".join(_navigation(source[0]))


def _target(page: Path, link: str) -> str:
    path = (page.parent / link).resolve()
    shown = path.suffix == ".md" or path.parent.name == "images"
    if not path.exists() or (path.is_relative_to(DOCS) and shown):
        return link
    return f"{REPOSITORY}/{'tree' if path.is_dir() else 'blob'}/main/{path.relative_to(ROOT).as_posix()}"


def _navigation(index: str) -> list[str]:
    """A part for each section of the index, of the pages that it links to."""
    parts = []
    for section in index.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        pages = dict.fromkeys(link.removesuffix(".md") for link in LINK.findall(text) if link.endswith(".md"))
        lines = ["", "", "```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""]
        parts.append("\n".join(lines))
    return parts


def finish_page(app: Sphinx, name: str, _template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Describe the page by its first paragraph, for search engines, and give the parts of the menu their level."""
    if name == "playground":
        app.add_css_file("playground/page.css")
        for script in ("examples.js", "page.js"):
            app.add_js_file(f"playground/{script}", loading_method="defer")
    menu = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = menu.replace('role="heading"', 'role="heading" aria-level="2"')
    first = next(iter(tree.findall(nodes.paragraph)), None) if tree else None
    if first is not None:
        context["metatags"] += f'<meta name="description" content="{escape(" ".join(first.astext().split()))}" />'


def name_first_page(app: Sphinx, error: Exception | None) -> None:
    """Let the folder open with the first page, which on GitHub is named README."""
    if error is None and app.builder.format == "html":
        shutil.copyfile(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def add_playground(app: Sphinx, error: Exception | None) -> None:
    """Put what the playground loads beside its page."""
    if error is None and app.builder.format == "html":
        write_site_files(app.outdir / "_static" / "playground", ROOT / ".venv-playground")


def setup(app: Sphinx) -> None:
    """Connect what is above; Sphinx calls this."""
    app.add_lexer("jsonl", JsonLexer)
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", read_page)
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", name_first_page)
    app.connect("build-finished", add_playground)
