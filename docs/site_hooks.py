"""Hooks of mkdocs: add files of the repository outside of docs/ as pages of the site.

An entry `repository/X` of the navigation is the page X of the repository; `repository/X.md` shows the text of
another file X. Links between docs/ and these files lead to their pages, so they work in a checkout and on the
site. For a link to a file that is not in the navigation, mkdocs reports an error.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic import JsonValue

ROOT = Path(__file__).parents[1]
FOLDER = "repository/"
LINK = re.compile(r"\]\((?P<target>[^)\s#:]+)(?P<fragment>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages for files of the repository."""
    for name in _entries(config.nav):
        if not name.startswith(FOLDER):
            continue
        file = ROOT / name.removeprefix(FOLDER)
        if file.is_file():
            files.append(File.generated(config, name, abs_src_path=str(file)))
        else:
            source = file.with_suffix("")
            text = f"# {source.name}\n\n```{source.suffix[1:]}\n{source.read_text(encoding='utf-8')}```\n"
            files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change links between docs/ and other files, so that they lead to the pages."""
    here = page.file.src_uri

    def on_the_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(_in_repository(here)), link["target"]))
        if target.startswith("docs/"):
            uri = target.removeprefix("docs/")
        else:
            uri = FOLDER + target + ("" if target.endswith(".md") else ".md")
        return f"]({posixpath.relpath(uri, posixpath.dirname(here))}{link['fragment'] or ''})"

    return LINK.sub(on_the_site, markdown)


def _in_repository(uri: str) -> str:
    return uri.removeprefix(FOLDER) if uri.startswith(FOLDER) else f"docs/{uri}"


def _entries(nav: JsonValue) -> Iterator[str]:
    """Yield the pages in a navigation, which is a list or a mapping by title."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        yield from _entries(list(nav.values()))
    elif isinstance(nav, list):
        for entry in nav:
            yield from _entries(entry)
