"""Show the README of each kind of task, which stands in its folder, as a page of the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

DOMAINS = Path(__file__).resolve().parent.parent.parent / "domains"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add ``domains/index.md`` and a page for each kind of task."""
    for readme in (DOMAINS / "README.md", *sorted(DOMAINS.glob("*/README.md"))):
        name = "index" if readme.parent == DOMAINS else readme.parent.name
        text = readme.read_text(encoding="utf-8").replace("/README.md)", ".md)")
        files.append(File.generated(config, f"domains/{name}.md", content=text))
    return files
