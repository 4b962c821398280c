import pytest

from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import TheoryLintError


@pytest.mark.parametrize(
    "source",
    [
        '"""Name: claim — with any letters, like é and 数."""\nfrom __future__ import annotations\nimport math\n',
        "import numpy\nfrom scipy import special\nfrom scipy.special import ndtr\nfrom numpy.linalg import solve\n",
        "def choose(parameters, trials, xp):\n\treturn xp.exp(parameters.input)\r\n",
        "open = 3\n_private = open\n",
    ],
)
def test_honest_source_passes(source):
    check_source(source)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("import os", "line 1 imports 'os'; a theory may import"),
        ("x = 1\nimport numpy.ctypeslib", "line 2 imports 'numpy.ctypeslib'"),
        ("from numpy import load", "line 1 imports 'load'"),
        ("from . import secrets", "imports '.'"),
        ("import scipy.stats", "use scipy.special"),
        ("x = ().__class__", "line 1 uses the name '__class__'"),
        ("__builtins__", "'__builtins__'"),
        ("def f(__x): pass", "'__x'"),
        ("import math as __m", "'__m'"),
        ("class __C: pass", "line 1 uses the name '__C'"),
        ("\n\nf(__x=1)", "line 3 uses the name '__x'"),
        ("x = 1\nfrom numpy import exp as __e", "line 2 uses the name '__e'"),
        ("from math import __doc__", "line 1 uses the name '__doc__'"),
        (
            "x = (i for i in y)\nx.gi_frame",
            r"line 2 uses \.gi_frame; theories do not look into the interpreter",
        ),
        ("error.tb_frame", r"line 1 uses \.tb_frame"),
        (
            "\nx = '{0.__class__}'.format(y)",
            "line 2 holds a format string that reaches for a name starting with __",
        ),
        ("f'{y.__class__}'", "line 1 uses the name '__class__'"),
        ("\neval('1')", r"line 2 calls eval\(\)"),
        ("getattr(x, 'y')", r"line 1 calls getattr\(\)"),
        ("from scipy import stats", "line 1 imports 'scipy'; use scipy.special"),
        ("import numpy.lib.npyio", "line 1 imports 'numpy.lib.npyio'"),
        ("a.memmap(x)", r"line 1 uses \.memmap; theories read and write no files"),
        ("\nopen('x')", r"line 2 calls open\(\)"),
        ("xp.load('x')", r"line 1 uses \.load"),
        ("x = '\u202e'", r"line 1 .*U\+202E"),
        ("x = 1\ny\u200b = 2", r"line 2 .*U\+200B"),
        ("x = '\0'", r"U\+0000"),
        ("x = '\ud800'", "half a character"),
        ("x = (", "line 1 does not parse"),
        ("(" * 5000, "does not parse"),
        ("x = 1\n" + "#" * 70000, "line 2 goes beyond the limit: .*at most 65536"),
    ],
)
def test_each_refusal_names_line_and_cause(source, match):
    with pytest.raises(TheoryLintError, match=match):
        check_source(source)
