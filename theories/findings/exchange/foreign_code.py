"""Python that others wrote, as the sandbox takes it: code without prose around it, and functions of `scipy.stats`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lakatos.theories.language.parsing import parse

IMPORT: Final = re.compile(
    r"^[ \t]*from scipy\.stats import ([\w, ]+?)[ \t]*(?:#.*)?$", re.MULTILINE
)
IN_NUMPY: Final[Mapping[str, str]] = {
    "rankdata": '''
def rankdata(a, method="average"):
    """Ranks from 1, of equal values their mean."""
    if method != "average":
        raise ValueError("rankdata is known with method='average' only")
    a = np.ravel(a)
    return (a[:, None] > a).sum(axis=1) + ((a[:, None] == a).sum(axis=1) + 1) / 2
''',
    "norm": '''
class norm:
    """The normal distribution."""

    def cdf(x, loc=0.0, scale=1.0):
        return special.ndtr((x - loc) / scale)

    def sf(x, loc=0.0, scale=1.0):
        return special.ndtr((loc - x) / scale)

    def logcdf(x, loc=0.0, scale=1.0):
        return special.log_ndtr((x - loc) / scale)

    def ppf(q, loc=0.0, scale=1.0):
        return loc + scale * special.ndtri(q)

    def logpdf(x, loc=0.0, scale=1.0):
        return -0.5 * ((x - loc) / scale) ** 2 - np.log(scale) - 0.5 * np.log(2 * np.pi)

    def pdf(x, loc=0.0, scale=1.0):
        return np.exp(norm.logpdf(x, loc, scale))
''',
}
"""Functions of `scipy.stats`, which the sandbox does not have, with NumPy alone."""


def with_statistics(source: str) -> str:
    """A source whose functions of `scipy.stats` are written out before it, where all of them are known here."""
    wanted = [name.strip() for line in IMPORT.findall(source) for name in line.split(",")]
    if not wanted or not set(wanted) <= set(IN_NUMPY):
        return source
    written = "\n".join(IN_NUMPY[name] for name in dict.fromkeys(wanted))
    return f"import numpy as np\nfrom scipy import special\n{written}\n\n{IMPORT.sub('', source).lstrip()}"


def code_in(text: str) -> str:
    """The code of a text that explains it: what stands between fences, or all from the first import or function on."""
    if _is_python(text):
        return text
    fenced = re.findall(r"^```(?:python|py)?[ \t]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    begun = re.search(r"^(?:def|import|from|class) ", text, re.MULTILINE)
    for code in ("\n".join(fenced), text[begun.start() :] if begun else ""):
        if code and _is_python(code):
            return code
    return text


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
