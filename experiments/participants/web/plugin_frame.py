"""The document in which a researcher's jsPsych plugin runs: without an origin, a network, or access to the page.

The page frames it with ``sandbox="allow-scripts"``. Its policy admits two scripts by their content: the host that gives
plugins what they need of jsPsych, and the plugin. Everything between plugin and page passes as messages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from lakatos.experiments.presentation import csp_hash

PAGE: Final = Path(__file__).parent / "page"
STYLE: Final = (
    "html{background:#fff;color:#1d2129;font:1.0625rem/1.55 system-ui,sans-serif}body{margin:0;padding:.5rem}"
    "button{font:inherit;min-height:2.75rem;padding:.4rem 1rem}img,video,svg,canvas{max-width:100%}"
    "#jspsych-content{text-align:center}"
)
_IMPORT = re.compile(
    r"^[ \t]*import\s{0,99}\{([^}]{0,2000})\}\s*from\s*[\"']jspsych[\"'][ \t]*;?", re.MULTILINE
)


@lru_cache(maxsize=16)
def plugin_frame(script: str, class_name: str) -> tuple[str, str]:
    """The document of a plugin, and its policy of content security."""
    host = _lines((PAGE / "plugin_host.js").read_text(encoding="utf-8"))
    own = f"\n{_module(script)}\nlakatosHost.begin({class_name});\n"
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Plugin</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style><script>{host}</script></head>"
        f'<body><main id="jspsych-content"></main><script type="module">{own}</script></body></html>'
    )
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {csp_hash(host)} {csp_hash(own)}; "
        "style-src 'unsafe-inline'; img-src blob: data:; media-src blob: data:; font-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    return text, policy


def _module(script: str) -> str:
    """A plugin's script with names of jsPsych from the host; a document cannot import what has no address."""

    def from_host(found: re.Match[str]) -> str:
        names = re.sub(r"\bas\b", ":", found[1])
        return f"const {{{names}}} = jsPsychModule;"

    return _IMPORT.sub(from_host, _lines(script))


def _lines(script: str) -> str:
    """Line ends as a browser reads them, by which it compares the content with the policy."""
    return script.replace("\r\n", "\n").replace("\r", "\n")
