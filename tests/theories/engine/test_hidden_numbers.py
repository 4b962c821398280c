"""A table of numbers is counted in whatever form a source hides it, and no honest theory is taken for one."""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES, find_family
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.exam import MOST_NUMBERS
from lakatos.theories.engine.checks.hidden_numbers import table_size
from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.artifact import ArtifactStore

ROOT = Path(__file__).resolve().parents[3]
N = 240
DIGITS = np.random.default_rng(1).integers(0, 10, N).tolist()
BITS = np.random.default_rng(2).integers(0, 2, N).tolist()
TEXT = "".join(map(str, DIGITS))
LETTERS = "".join(chr(97 + digit) for digit in DIGITS)
PRIOR = '{"prior": "uniform", "low": 0.2, "high": 2.0}'
BARE = "a, b = 1, 0\n"
HEAD = f'"""A rule: it is followed."""\nPARAMETERS = {{"s": {PRIOR}}}\n'


def parts(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def rows(entries: Sequence[str], size: int = 8) -> str:
    """Entries in rows of rows, none of which is long."""
    while len(entries) > 1:
        entries = [
            f"[{', '.join(entries[start : start + size])}]"
            for start in range(0, len(entries), size)
        ]
    return entries[0]


def source(body: str, *, before: str = "", head: str = HEAD) -> str:
    """A theory that could read what it hides."""
    return (
        f"{head}{before}\ndef choose(parameters, trials, xp):\n    {body}\n"
        '    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)\n'
        '    return 1 / (1 + xp.exp(-parameters["s"] * evidence))\n'
    )


def named(size: int) -> list[str]:
    return [f"k{part}" for part in parts(LETTERS, size)]


TRUTH = [str(bool(bit)) for bit in BITS]
NAMES = ["a" if bit else "b" for bit in BITS]
ARGUMENTS = [f"a{place}" for place in range(N)]
HIDDEN = {
    # The four forms in which tables were admitted.
    "names of keys": source(
        "d = {}\n    " + "\n    ".join(f'd["{part}"] = 0' for part in parts(TEXT, 30))
    ),
    "booleans": source(f"t = [{', '.join(TRUTH)}]"),
    "clauses": source("t = CLAUSES[0]", head=f'{HEAD}CLAUSES = ["{TEXT}"]\n'),
    "units": source(
        'u = PARAMETERS["s"]["unit"]', head=HEAD.replace('"high"', f'"unit": "{TEXT}", "high"')
    ),
    # Other declarations, and other ways to them.
    "predictions": source(
        "t = PREDICTIONS", head=f'{HEAD}PREDICTIONS = [{{"property": "increasing", "in": "{TEXT}"}}]\n'
    ),
    "a second name of clauses": source("t = T[0]", head=f'{HEAD}CLAUSES = T = ["{TEXT}"]\n'),
    "clauses with a type": source("t = 0", head=f'{HEAD}CLAUSES: list = ["{TEXT}"]\n'),
    "letters of clauses": source(
        "t = [ord(c) for c in CLAUSES[0]]", head=f'{HEAD}CLAUSES = ["{LETTERS}"]\n'
    ),
    "parameters' names": source(
        "t = list(parameters)",
        head=HEAD.replace("{", "{" + "".join(f'"s{part}": {PRIOR}, ' for part in parts(TEXT, 20)), 1),
    ),
    # Names.
    "names of variables": source(f"x{TEXT} = 0"),
    "names of attributes": source(f"t = xp.x{TEXT}"),
    "names of arguments": source("t = 0", before=f"def g(x{TEXT}): pass\n"),
    "letters of keywords": source(
        f"t = [ord(c) for n in dict({', '.join(f'{name}=0' for name in named(10))}) for c in n]"
    ),
    "letters of keys": source(
        f"t = [ord(c) for n in {{{', '.join(f'{name!r}: 0' for name in named(30))}}} for c in n]"
    ),
    "letters of members": source(
        "t = [m.name for m in E]",
        before="import enum\nclass E(enum.Enum):\n    "
        + "\n    ".join(f"{name} = {place}" for place, name in enumerate(named(20))),
    ),
    "names that are missing": source(
        f"try: {'; '.join(named(20))}\n    except NameError as error: t = str(error)"
    ),
    "names that stand for numbers": source(f"t = [{', '.join(NAMES)}]", before="a, b = 1, 0\n"),
    # Texts.
    "a text": source(f't = "{TEXT}"'),
    "bytes": source(f't = b"{TEXT}"'),
    "a text with places": source(f't = f"{{1}}{TEXT}"'),
    "a text that names a variable": source(f'k{TEXT} = 1; t = f"{{k{TEXT}=}}"'),
    "a comment": source("t = 0", before=f'def g():\n    "{TEXT}"\n'),
    "texts that are looked up": source(
        "d = {}; t = ["
        + ", ".join(f'"{part}"' for part in parts(TEXT, 30))
        + "]; "
        + "; ".join(f'd["{part}"]' for part in parts(TEXT, 30))
    ),
    # What is no number.
    "rows of eight": source(f"t = {rows(TRUTH)}"),
    "digits in rows of eight": source(f"t = {rows(list(TEXT))}"),
    "nothing and an ellipsis": source(f"t = [{', '.join('None' if b else '...' for b in BITS)}]"),
    "empty brackets": source(f"t = [{', '.join('[]' if bit else '()' for bit in BITS)}]"),
    "arguments": source(f"t = f({', '.join(NAMES)})", before="def f(*a): return a\n"),
    "default arguments": source(
        "t = 0",
        before=f"def g({', '.join(f'{a}={t}' for a, t in zip(ARGUMENTS, TRUTH, strict=True))}): pass\n",
    ),
    "annotations": source(
        "t = 0",
        before=f"def g({', '.join(f'{a}: {t}' for a, t in zip(ARGUMENTS, TRUTH, strict=True))}): pass\n",
    ),
    # Chains.
    "comparisons": source("t = 0 " + " ".join("< 1" if bit else "> 1" for bit in BITS)),
    "alternatives": source("t = " + " or ".join(TRUTH)),
    "sums": source("t = " + " + ".join(f"({bit} << {k % 9})" for k, bit in enumerate(BITS))),
    "short lists in a sum": source(
        "t = "
        + " + ".join(f"[{', '.join(TRUTH[k : k + 8])}]" for k in range(0, N, 8))
    ),
    "signs": source("t = " + "".join("~" if bit else "-" for bit in BITS) + "1"),
    "calls of calls": source("t = s" + "".join(f".{name}()" for name in NAMES)),
    "subscripts": source("t = s" + "".join(f"[{bit}]" for bit in BITS)),
    "calls in calls": source(
        "t = " + "".join(f"f({digit}, " for digit in DIGITS[:80]) + "0" + ")" * 80
    ).replace("DIGITS", ""),
    "conditions": source(
        "t = " + " else ".join(f"{d} if s == {k % 9}" for k, d in enumerate(DIGITS[:60])) + " else 0"
    ),
    "else if": source(
        "t = 0\n    if 0: pass\n    "
        + "\n    ".join(f"elif s == {k % 9}: t = {digit}" for k, digit in enumerate(DIGITS[:90]))
    ),
    "if after if": source(
        "t = 0\n    " + "\n    ".join(f"if s == {k % 9}: t = {d}" for k, d in enumerate(DIGITS))
    ),
    "statements": source("\n    ".join(f"v = (v, {truth})" for truth in TRUTH)),
    "cases": source(
        "t = 0\n    match t:\n        "
        + "\n        ".join(f"case {t} if s == {k % 9}: t = {t}" for k, t in enumerate(TRUTH))
    ),
    "decorators": source(
        "t = 0", before="".join(f"@d({bit})\n" for bit in BITS) + "def g(): pass\n"
    ),
    "doubled and raised": source(
        "x = a\n    " + "\n    ".join("x = x + x + a" if bit else "x = x + x" for bit in BITS), before=BARE
    ),
    "doubled in blocks": source(
        "x = a" + "".join(f"\n    if {name}:\n        x += x" for name in NAMES), before=BARE
    ),
    "sums of names": source("x = " + " + ".join(NAMES), before=BARE),
    "shifts of names": source("x = a" + "".join(" << a | a" if bit else " << a" for bit in BITS), before=BARE),
    "powers of names": source("x = " + "**".join(NAMES), before=BARE),
    "names in turn": source("x = " + " and ".join(NAMES), before=BARE),
    "assignments inside": source("x = a + " + "+".join(f"(y := a + {name})" for name in NAMES), before=BARE),
    "unpacked names": source(f"x = [{', '.join(f'*{name}' for name in NAMES)}]", before="a, b = (1,), (0,)\n"),
    "differences in a row": source(f"x = [{', '.join('a - a' if b else 'a - b' for b in BITS)}]", before=BARE),
    "signs in a row": source(f"x = [{', '.join('-a' if b else '+a' for b in BITS)}]", before=BARE),
    "calls in a row": source(
        f"x = [{', '.join(f'{name}()' for name in NAMES)}]",
        before="def a(): return 1\n\ndef b(): return 0\n"
    ),
    "attributes in a row": source(f"x = [{', '.join('a.real' if b else 'a.imag' for b in BITS)}]", before=BARE),
    "conditions in a row": source(
        f"x = [{', '.join('(a if s else b)' if bit else '(b if s else a)' for bit in BITS)}]", before=BARE
    ),
    "a text of names": source(
        'x = int(f"' + "".join(f"{{{name}}}" for name in NAMES) + '", a + a)', before=BARE
    ),
    "loops in a row": source(
        f"x = [a {' '.join(f'for c in {name}' for name in NAMES)}]", before="a, b = (1,), (0,)\n"
    ),
    "functions of functions": source("x = " + "".join(f"lambda {name}: " for name in NAMES) + "a", before=BARE),
    "exchanges": source("; ".join("x, y = y, x" if bit else "y, x = y, x" for bit in BITS), before=BARE),
    "slices": source("; ".join(f"y = x[{name}:a:{name}]" for name in NAMES), before=BARE),
    "functions": source(
        "x = a",
        before=BARE + "".join(f"def f(x): return {'x + x + a' if bit else 'x + x'}\n\n" for bit in BITS)
    ),
    "branches": source(
        "x = a\n    " + "\n    ".join(f"if {name}: x = x + x" for name in NAMES), before=BARE
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_a_table_is_counted_however_it_is_written_down(name: str) -> None:
    assert table_size(HIDDEN[name]) > min(MOST_NUMBERS, 0.3 * N)
    honest = table_size(source("t = 0"))
    assert honest == 0


@pytest.mark.parametrize("name", ["names of keys", "booleans", "clauses", "units"])
def test_theories_with_a_hidden_table_are_refused(name: str, sandbox) -> None:
    report = check_theory(TheoryProgram(HIDDEN[name], "test"), DOMAINS["multiattribute"], sandbox)
    assert not report.passed
    (table,) = [check for check in report.failures if check.name == "table"]
    assert "That is a table, not a rule" in table.sentence


def families() -> list[str]:
    return [*FAMILIES, *sorted(path.stem for path in (ROOT / "studies" / "tasks").glob("*.toml"))]


@pytest.mark.parametrize("name", families())
@pytest.mark.slow
def test_nothing_that_the_grammar_writes_is_taken_for_a_table(name: str) -> None:
    family = FAMILIES.get(name) if name in FAMILIES else None
    if family is None:
        text = (ROOT / "studies" / "tasks" / f"{name}.toml").read_text("utf-8")
        family = find_family(DeclaredDomain(text))
    rng = np.random.default_rng(0)
    texts = {seed: family.program(seed).source for seed in family.seeds}
    drawn = [family.grammar.compose(rng) for _ in range(40)]
    # A composition in which nothing is told about people has no claim, and is no theory.
    told = [item for item in drawn if family.grammar.clauses(item)]
    texts |= {str(item.key): family.grammar.write(item) for item in told}
    sizes = {key: table_size(text) for key, text in texts.items()}
    assert max(sizes.values()) <= 0.85 * MOST_NUMBERS, max(sizes, key=lambda key: sizes[key])


def test_no_theory_of_a_released_journal_is_taken_for_a_table(tmp_path: Path) -> None:
    with tarfile.open(ROOT / "tests" / "golden" / "format-1.tar.gz") as kept:
        kept.extractall(tmp_path, filter="data")
    found = []
    for folder in tmp_path.rglob("artifacts"):
        kept_artifacts = ArtifactStore(folder)
        for path in (item for item in folder.rglob("*") if len(item.name) == 64):
            text = kept_artifacts.get(path.name).decode("utf-8", "ignore")
            if text.startswith('"""') and "PARAMETERS" in text:
                found.append(table_size(text))
    assert found
    assert max(found) <= 0.5 * MOST_NUMBERS


def test_names_that_parameters_share_with_texts_are_no_numbers() -> None:
    """A loop over names of attributes and parameters is an honest way to write a sum."""
    body = 'for name in ("price", "quality"): t = parameters[name + "_weight"] * trials[name]'
    assert table_size(source(body)) < 15


WORDS = parts(LETTERS, 40)
LOOPS = "".join(
    f"    for word in {{{', '.join(f'{word!r}: None' for word in dict.fromkeys(WORDS[at : at + 4]))}}}:\n"
    "        told = told + word\n"
    for at in range(0, len(WORDS), 4)
)
SUBSCRIPTS = "".join(
    f'    if False:\n        parameters["{word}"]\n    told = told + "{word}"\n' for word in WORDS
)


@pytest.mark.parametrize("hidden", [LOOPS, SUBSCRIPTS], ids=["dictionaries", "subscripts"])
@pytest.mark.parametrize("number", ["int(told[i % 240], 36)", '1.0 * (told[i % 240] > "e")'])
def test_letters_of_keys_are_counted_whatever_makes_numbers_of_them(
    hidden: str, number: str
) -> None:
    source = (
        f'{HEAD}\ndef choose(parameters, trials, xp):\n    told = ""\n{hidden}'
        f"    return xp.array([{number} for i in range(240)])\n"
    )
    assert table_size(source) > MOST_NUMBERS


def in_many(shapes: Sequence[str], entries: Sequence[str], size: int) -> str:
    """A body of short statements of many shapes, each with ``size`` entries."""
    each = -(-len(entries) // size // len(shapes))
    lines = [", ".join(entries[start : start + size]) for start in range(0, len(entries), size)]
    return "\n    ".join(
        ["t = ()", *(shapes[place // each].format(line) for place, line in enumerate(lines))]
    )


WHOLE = np.random.default_rng(3).integers(0, 10, 400).tolist()
WHOLE_NAMES = ["abcdefghij"[digit] for digit in WHOLE]
PAIRS = [int(f"{a}{b}") for a, b in zip(WHOLE[::2], WHOLE[1::2], strict=True)]
WORDS = ["x" + "".join(WHOLE_NAMES[start : start + 38]) for start in range(0, 400, 38)]
WIDE_TEXT = "".join(chr(0x4E00 + 100 * a + b) for a, b in zip(PAIRS[::2], PAIRS[1::2], strict=True))


def sums(names: Sequence[str]) -> str:
    """A number whose digits stand for names."""
    total = "m"
    for name in names:
        total = f"({total} * k + {name})"
    return total


SHAPES = ("t = t, ({})", "t = t, [{}]", "t = (t, ({}))", "t = [t, ({})]", "t = [t, [{}]]")
CALLS = ("t += g({})", "t = t + g({})", "t = (*t, *g({}))", "t += (*g({}),)", "t = g(*t, *g({}))")
IN_TOTAL = {
    "exponents": source(in_many(SHAPES, [f"1e-{pair}" for pair in PAIRS], 8)),
    "places of a digit": source(in_many(SHAPES, [hex(1 << 4 * pair) for pair in PAIRS], 8)),
    "names in short rows": source(in_many(SHAPES, WHOLE_NAMES, 8)),
    "digits in short rows": source(in_many(SHAPES, list(map(str, WHOLE)), 8)),
    "arguments of many calls": source(in_many(CALLS, WHOLE_NAMES, 8)),
    "texts of names": source(in_many(SHAPES, [f'f"{{{name}}}"' for name in WHOLE_NAMES], 8)),
    "sums of names": source(
        in_many(SHAPES, [sums(WHOLE_NAMES[start : start + 9]) for start in range(0, 400, 9)], 1)
    ),
    "brackets in brackets": source("t = " + ", ".join("[" * run + "]" * run for run in [60] * 7)),
    "letters of parameters by base": source(
        "t = [int(c, 36) for name in parameters for c in name]",
        head=HEAD.replace("{", "{" + "".join(f'"{word}": {PRIOR}, ' for word in WORDS), 1),
    ),
    "letters of keywords by base": source(
        "t = [int(c, 36) for name in dict("
        + ", ".join(f"{word}=0" for word in WORDS[:8])
        + ") for c in name]"
    ),
    "narrow ranges": source(
        "t = list(parameters)",
        head=HEAD.replace(
            "{",
            "{"
            + "".join(
                f'"w{place}": {{"prior": "uniform", "low": {part}.3, "high": {part}.6}}, '
                for place, part in enumerate(parts("".join(map(str, WHOLE)), 12))
            ),
            1,
        ),
    ),
    "wide characters": source(f't = "{WIDE_TEXT}"'),
    "wide characters of keys": source(
        "d = {}\n    " + "\n    ".join(f'd["{part}"] = 0' for part in parts(WIDE_TEXT, 25))
    ),
}


@pytest.mark.parametrize("name", IN_TOTAL)
def test_a_table_in_many_small_parts_is_counted_as_a_whole(name: str) -> None:
    assert table_size(IN_TOTAL[name]) > MOST_NUMBERS
