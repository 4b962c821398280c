"""Ways to hide a table in a source, each a whole theory that chooses by what it hides.

They are attacks that were tried after the tests' own (`tests/theories/engine/test_hidden_numbers.py`,
`test_memorised.py`), as a stranger would write them.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterable

HEAD = '"""A rule: people follow it."""\n'
PRIOR = '{"prior": "uniform", "low": 0.2, "high": 2.0}'
DECLARED = f'"s": {PRIOR}'
FUNCTIONS = ("sin", "cos", "tanh", "sinh", "cosh", "square", "exp", "rint")
NAMES = [*string.ascii_letters, *(a + b for a in "abcdefgh" for b in "xyz")]
WRITTEN_CALLS = ("t = {0}", "t = ({0})", "t += {0}[len(t):]", "t = [*{0}]", "t = list({0})")
COUNTS = (
    "t = {0} + {1} * {2}, {3}", "t = {0}, {1} - {2}", "t = [{0}, {1}] * {2}", "t = {0} if {1} else {2}",
    "t = ({0} < {1}) | {2}", "t = {0} % {1}",
)  # fmt: skip


def theory(lines: Iterable[str], chosen: str, *, declared: str = DECLARED, before: str = "") -> str:
    """A theory that makes a number ``n`` and a ``key`` of each trial and chooses by ``chosen``, between 0 and 1."""
    body = "".join(f"    {line}\n" for line in lines)
    return (
        f"{HEAD}PARAMETERS = {{{declared}}}\n{before}\ndef choose(parameters, trials, xp):\n"
        '    flat = xp.round(trials["ratings"].reshape(len(trials["ratings"]), -1))\n'
        "    n = (flat @ 4.0 ** xp.arange(flat.shape[-1])).astype(int)\n    key = n % 97\n"
        f'{body}    return 0.02 + 0.96 * ({chosen}) + 0 * parameters["s"]\n'
    )


def _nested(rng: random.Random) -> list[str]:
    """Chains of calls of two functions, in five shapes and six depths."""
    lines = []
    for place in range(90):
        call = "t"
        for _ in range(3 + place % 6):
            call = f"{rng.choice('fg')}({call})"
        lines.append(WRITTEN_CALLS[place % 5].format(call))
    return lines


def _tree(rng: random.Random, n_leaves: int) -> str:
    """Operators over one name."""
    if n_leaves == 1:
        return "a"
    n_left = rng.randint(1, n_leaves - 1)
    left, right = _tree(rng, n_left), _tree(rng, n_leaves - n_left)
    return f"({left} {rng.choice('+-*&|^')} {right})"


def hidden_tables() -> dict[str, str]:
    """Sources by the way in which each hides a table."""
    rng = random.Random(5)
    numbers = [rng.randint(2, 97) for _ in range(100)]
    order = rng.sample(NAMES[:60], 60)
    ranges = (
        f'"{name}": {{"prior": "uniform", "low": {v / 100}, "high": {v / 100 + 0.01:.2f}}}'
        for name, v in zip(NAMES, numbers, strict=False)
        if name != "s"
    )
    free = ", ".join(f'"{name}": {PRIOR}' for name in dict.fromkeys(["s", *order]))
    letters = dict.fromkeys(chr(0x4E00 + v) for v in numbers[:38])
    wide = ", ".join(f'"{name}": {PRIOR}' for name in ("s", *letters))
    words = (
        f"x = xp.{rng.choice(FUNCTIONS)}(xp.{rng.choice(FUNCTIONS)}(x) % 3 + y % 2)"
        for _ in range(40)
    )
    ifs = ("if i", "if not i", "if i < i", "if i is i")
    conditions = (f"t = [i for i in t {' '.join(rng.choices(ifs, k=6))}]" for _ in range(60))
    counted = (
        COUNTS[k % 6].format(*(f"g({', '.join('t' * rng.randint(1, 3))})" for _ in range(4)))
        for k in range(120)
    )
    blank = "".join("\n" * rng.randint(1, 60) + f"f{k} = lambda: 0\n" for k in range(36))
    errors = [
        "t = []",
        *["try: 1 / 0", "except ZeroDivisionError as e: t.append(e.__traceback__.tb_lineno)"] * 8,
    ]
    two = "def f(t): return t + [0]\n\ndef g(t): return t + [1]\n"
    gate = f'{DECLARED}, "a": {{"prior": "uniform", "low": 0.0, "high": 1.0}}'
    seed = f'{DECLARED}, "a": {{"prior": "uniform", "low": 0.1, "high": 1.0}}'
    return {
        "narrow ranges of parameters": theory(
            ["t = xp.stack([parameters[n] for n in sorted(parameters)][:70])"],
            "xp.clip(t[key % 70, :, 0].T, 0, 1)", declared=f"{DECLARED}, {', '.join(ranges)}",
        ),
        "order of parameters": theory(
            ["t = xp.array([sorted(parameters).index(n) for n in parameters])"],
            "t[key % 60] / 61", declared=free,
        ),
        "nested calls in many shapes": theory(["t = []", *_nested(rng)], "xp.array(t)[key % len(t)]", before=two),
        "trees of operators": theory(
            [f"x{k % 9} = {_tree(rng, 6)}" for k in range(60)], "(key ^ x0 & 63) / 127", before="a = 3\n"
        ),
        "widths of formats": theory(
            ["t = []", *(f't.append(len(f"{{1:{v}}}"))' for v in numbers)], "xp.array(t)[key] / 100"
        ),
        "numbers of arguments": theory(
            ["t = 1", *counted], "key / 97", before="def g(*a): return len(a)\n"
        ),
        "functions of NumPy": theory(["x, y = n % 7.3, key % 1.7", *words], "abs(x) * 7 % 1"),
        "a seed of a generator": theory(["t = xp.random.default_rng(81374).random(97)"], "t[key]"),
        "conditions of comprehensions": theory(["t = list(range(97))", *conditions], "key / 97"),
        "digits of a root": theory(["t = xp.floor(1e4 * (xp.sqrt(2 + xp.arange(97) * 37) % 1)) % 100"], "t[key] / 100"),
        "a chaotic map": theory(["x = key / 97.5 + 0.001", "for _ in range(40): x = 3.9876 * x * (1 - x)"], "x"),
        "letters outside ASCII": theory(
            ["t = xp.array([int(n.encode().hex(), 16) for n in parameters])"],
            "t[key % len(t)] % 100 / 100", declared=wide,
        ),
        "blank lines": theory(
            ["t = [f.__code__.co_firstlineno for f in (f0, f1, f2, f3, f4, f5, f6, f7)]"],
            "xp.array(t)[key % 8] % 97 / 97", before=blank,
        ),
        "lines of errors": theory(errors, "xp.array(t)[key % 8] % 97 / 97"),
        "bits of floats": theory(["u = (1 / (n + 7.0)).view(xp.uint64) >> 9 & 255"], "u / 256"),
        "order of a set of numbers": theory(
            ["t = list({i * i * 37 + 11 * i for i in range(97)})"], "xp.array(t)[key] % 97 / 97"
        ),
        "words of two matrices": theory(
            [
                "v = xp.stack([n * 0 + 1, n * 0 + 2], axis=1)", "for k in range(6):",
                "    d = (n // 4 ** k % 4)[:, None]",
                "    a, b = v @ xp.array([[2, 1], [1, 1]]), v @ xp.array([[1, 3], [2, 5]])",
                "    v = xp.where(d > 1, a, b) % 101 + d",
            ],
            "v[:, 0] % 101 / 101",
        ),
        "waves": theory(
            ["a = xp.array([5, 3, 7, 2, 9, 4, 8, 6])", "u = xp.sin(n[:, None] * a * a * 1.7 + a).sum(axis=1)"],
            "1 / (1 + xp.exp(-2 * u))",
        ),
        "a cellular automaton": theory(
            [
                "c = n[:, None] >> xp.arange(16) & 1", "for _ in range(24):",
                "    l, m = xp.roll(c, 1, axis=1), xp.roll(c, -1, axis=1)", "    c = l ^ (c | m)",
            ],
            "(c[:, :8] * 2 ** xp.arange(8)).sum(axis=1) / 255",
        ),
        "a parameter as the seed": theory(
            ['u = xp.sin(n * parameters["a"] * 1e3) / 2 + 0.5'], "u", declared=seed
        ),
        "a narrow range of a parameter": theory(
            [
                "u = n * n % 997 / 997",
                'g = 1 / (1 + xp.exp(-xp.clip(400 * (parameters["a"] - 0.9), -50, 50)))',
                'lead = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)',
            ],
            "g * u + (1 - g) / (1 + xp.exp(-lead))", declared=gate,
        ),
        "steps of Euclid": theory(
            [
                "a, b, u = n * 0 + 7919, n + 3, n * 0", "for _ in range(14):",
                "    u = u + xp.where(b > 0, a // xp.maximum(b, 1) % 7, 0)",
                "    a, b = xp.where(b > 0, b, a), xp.where(b > 0, a % xp.maximum(b, 1), 0)",
            ],
            "u % 11 / 11",
        ),
        "ranks of sines": theory(["t = xp.argsort(xp.sin(xp.arange(97) * 12.9 + 4))"], "t[key] / 97"),
        "steps to one": theory(
            [
                "v, u = n + 27, n * 0", "for _ in range(120):", "    u = u + (v > 1)",
                "    v = xp.where(v <= 1, v, xp.where(v % 2 == 1, 3 * v + 1, v // 2))",
            ],
            "u % 13 / 13",
        ),
    }  # fmt: skip
