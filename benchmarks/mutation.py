"""Change one thing in a module and see whether a test fails.

    python benchmarks/run.py mutation                        # every target; benchmarks/results/mutation.csv
    python benchmarks/run.py mutation --only planning --n 60
    python benchmarks/run.py mutation --again                # only those that survived, with the tests of today
    python benchmarks/run.py mutation --again --slow         # likewise, with the tests that take seconds

A mutant differs from the source in one place: a comparison, an operator, a number, a condition turned round or left
out, two arguments exchanged, a call left out, nothing returned. Texts, docstrings and types are left alone. Where a
target has more mutants than ``--n``, a sample is drawn with a seed.

Which tests run which line is found once. A mutant meets the tests that run its line, the quickest first, and then the
others of their files, which may look at what a shared fixture did. It is killed when a test fails, or takes longer than
a minute. Only the tests of a target's own table are tried, and of these only quick ones (up to 5 seconds of processor
time) unless ``--slow`` is given, so that the whole suite kills at least as many. Tests run in a copy of the checkout,
in forks of one process.

The table has a row for each target (``line`` is 0: mutants there are, tried, killed at first, killed now) and one for
each mutant that survived at first: the test that kills it now, or why it does no harm, or neither.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import csv
import functools
import importlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest

from benchmarks.provenance import ROOT, provenance

PRELOADED = (
    "numpy",
    "scipy.stats",
    "pydantic",
    "hypothesis",
    "httpx",
    "fastapi",
    "cryptography",
    "xarray",
)
"""Loaded before forking; nothing of the laboratory is."""
PATIENCE_S = 60
"""A test that takes longer on the clock is stopped, and failed; long, since other programs may keep a machine busy."""
QUICK_S = 5.0
"""Tests that take more processor time without any change are left out."""
SLOW_S = 60.0
"""The same with ``--slow``."""
Traced = Callable[[FrameType, str, Any], Any]


@dataclass(frozen=True)
class MutationTarget:
    """Modules, and the tests that ought to hold them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "gate": MutationTarget(
        ("judges/gate.py",),
        (
            "tests/judges/test_gate.py",
            "tests/judges/test_epoch.py",
        ),
    ),
    "prolific": MutationTarget(
        ("experiments/participants/prolific/*.py",),
        tuple(
            f"tests/experiments/participants/test_prolific_{name}.py"
            for name in ("books", "client", "commands", "money", "rehearsal")
        ),
    ),
    "traces": MutationTarget(("traces/*.py",), ("tests/traces/test_*.py",)),
    "planning": MutationTarget(
        (
            "experiments/planning/*.py",
            *(f"experiments/{name}.py" for name in ("design", "power", "information", "stopping")),
        ),
        (
            "tests/experiments/planning/test_*.py",
            *(f"tests/experiments/test_{name}.py" for name in ("design", "power", "stopping")),
            "tests/flows/test_rivals.py",
            "tests/flows/stages/test_optional_stages.py",
        ),
    ),
    "fitting": MutationTarget(
        ("theories/engine/fitting/*.py",),
        (
            "tests/theories/engine/fitting/test_*.py",
            *(
                f"tests/theories/engine/test_{name}.py"
                for name in (
                    "calibrate",
                    "laboratory",
                    "many_parameters",
                    "person_fits",
                    "posterior",
                )
            ),
            "tests/theories/discovery/test_screen.py",
            "tests/theories/findings/differences/test_*.py",
            "tests/theories/language/test_dependence.py",
        ),
    ),
    "scoring": MutationTarget(
        ("theories/engine/scoring/*.py",),
        (
            "tests/theories/engine/scoring/test_*.py",
            *(
                f"tests/theories/engine/test_{name}.py"
                for name in (
                    "arrangement",
                    "distance",
                    "laboratory",
                    "score",
                    "scoreboard",
                    "sequence",
                )
            ),
            "tests/theories/findings/test_exactness.py",
            "tests/flows/test_rivals.py",
        ),
    ),
    "verdicts": MutationTarget(
        ("theories/findings/verdicts/*.py",),
        (
            "tests/theories/findings/verdicts/test_*.py",
            "tests/theories/findings/test_*.py",
            *(
                f"tests/flows/stages/test_{name}.py"
                for name in ("company", "conclude", "confirm", "tell", "weighed_exactness")
            ),
            "tests/flows/test_rules.py",
        ),
    ),
    "stages": MutationTarget(
        ("flows/stages/*.py", "flows/stages/*/*.py"),
        ("tests/flows/stages/test_*.py", "tests/flows/test_r*.py", "tests/flows/test_campaign.py"),
    ),
}
ELSEWHERE = ("*/test_postgres.py", "*/*object_store.py")
"""What needs a server."""
NO_TEST = "no quick test of the table runs this line"
TOO_LONG = "a test that took too long"
NEAR = 20
"""Lines by which later changes of a module may move a mutant."""
EXPLAINED: dict[tuple[str, str, str], str] = {
    (
        "judges/gate.py",
        "True -> False",
        "strict=True",
    ): "lengths that differ are refused before: items and answers are those registered",
    (
        "theories/engine/scoring/score.py",
        "2 ** 22 -> 2 * 22",
        "MOST_AT_ONCE",
    ): "only smaller parts: the same figures with less memory, slower",
    (
        "theories/engine/scoring/score.py",
        "1 -> 2",
        "MOST_AT_ONCE //",
    ): "only the size of parts: the same figures",
    (
        "theories/engine/scoring/score.py",
        "1 -> 2",
        "reshape(len(log_p), -1)",
    ): "NumPy takes any negative length for what is left over",
    (
        "traces/head.py",
        "return False -> return None",
        "return False",
    ): "callers ask only whether it is true",
    (
        "traces/standalone.py",
        "return None -> return None",
        "return None",
    ): "no change: such mutants are not made any more",
    (
        "traces/standalone.py",
        "last + 1 -> last - 1",
        "range(last + 1",
    ): "rows are then looked at one by one: the same faults, slower",
    (
        "traces/verify.py",
        "store.close() -> pass",
        "store.close()",
    ): "Python closes it as soon as nothing refers to it",
    (
        "traces/artifact.py",
        "True -> False",
        "mkdir(parents=True, exist_ok=True",
    ): "folders that another process makes at the same moment",
    (
        "experiments/planning/offers.py",
        "True -> False",
        "strict=True",
    ): "both lists are made from the same offers",
    (
        "experiments/power.py",
        "mean / mean.sum(axis=-1, keepdims=True) -> mean * mean.sum(axis=-1, keepdims=True)",
        "mean.sum",
    ): "the sum is 1 up to rounding",
    (
        "experiments/power.py",
        "0 -> 1",
        "MOST_SIMULATED //",
    ): "all rivals and draws have arrays of one size",
    (
        "experiments/stopping.py",
        "n < most -> n <= most",
        "range(first, most, every)",
    ): "the range ends before it",
    (
        "experiments/stopping.py",
        "1 -> 2",
        "np.full(n_samples, -1",
    ): "any negative number stands for no winner",
    (
        "theories/engine/scoring/distance.py",
        "1 -> 2",
        "p.reshape(n_draws, -1)",
    ): "NumPy takes any negative length for what is left over",
    (
        "theories/engine/scoring/distance.py",
        "False -> True",
        "kept[int(",
    ): "only where rounding leaves no weight at zero",
    (
        "theories/engine/scoring/exactness.py",
        "1 -> 2",
        "np.maximum(n_people * (n_people - 1), 1)",
    ): "trials of fewer than three participants are left out afterwards",
    (
        "theories/engine/scoring/score.py",
        "True -> False",
        "left_out_with(experiments), scores",
    ): "there is a score for each experiment",
    (
        "theories/engine/fitting/pooled.py",
        "0.0 -> 1.0",
        "self.counts > 0",
    ): "it is multiplied by a count of 0",
    (
        "theories/engine/fitting/pooled.py",
        "1 -> 2",
        "np.zeros((1, 0))",
    ): "only the first point is used",
    ("theories/engine/fitting/known_people.py", "16 -> 17", "digest[:16]"): "another seed",
    (
        "theories/engine/fitting/posterior.py",
        "opened.callback(tracer.close) -> pass",
        "tracer.close",
    ): "a process is closed later",
    (
        "theories/findings/verdicts/company.py",
        "measured.ahead is None or measured.ahead_error is None -> measured.ahead is None and measured.ahead_error is None",  # noqa: E501
        "measured.ahead is None",
    ): "both are missing or neither is",
    (
        "theories/findings/verdicts/conclude.py",
        "not sealed or opened is None -> not sealed",
        "opened is None",
    ): "without sealed trials there are no scores on them",
    (
        "theories/findings/verdicts/conclude.py",
        "not sealed or opened is None -> not sealed and opened is None",
        "opened is None",
    ): "without sealed trials there are no scores on them, and none of none",
    (
        "flows/stages/score.py",
        "0 -> 1",
        "default=0",
    ): "without names nothing is returned on the next line",
    (
        "flows/stages/judging/epoch.py",
        "not state.seats.anchors or state.seats.epoch is None or state.campaign.config is -> not state.seats.anchors or state.seats.epoch is None",  # noqa: E501
        "state.campaign.config is None",
    ): "an epoch has a started campaign",
}
"""Why a mutant that no test kills does no harm, by module, change and a piece of the line."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    change: str
    source: str


SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def mutants_of(source: str, module: str) -> Iterator[functools.partial[Mutant]]:
    """Every mutant of a module, made when it is called."""
    tree = ast.parse(source)
    for index, node in enumerate(tested_nodes(tree)):
        for number in range(len(list(replacements(node)))):
            yield functools.partial(make_mutant, source, module, index, number)


def make_mutant(source: str, module: str, index: int, number: int) -> Mutant:
    """The module with one replacement of one of its nodes."""
    tree = ast.parse(source)
    node = tested_nodes(tree)[index]
    new = list(replacements(node))[number]
    before, after = ast.unparse(node).splitlines()[0], ast.unparse(new).splitlines()[0]
    changed = ast.fix_missing_locations(Exchange(node, new).visit(tree))
    return Mutant(module, node.lineno, f"{before[:80]} -> {after[:80]}", ast.unparse(changed))


class Exchange(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        """The new node, or the node with its children visited."""
        return self.new if node is self.old else self.generic_visit(node)


def tested_nodes(tree: ast.Module) -> list[Any]:
    """Nodes whose meaning a test could see: no types, docstrings, imports, or texts of errors and of formatting."""
    found: list[Any] = []

    def walk(node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "type_params"} or (
                name == "bases" and isinstance(node, ast.ClassDef)
            ):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not is_text(child):
                    found.append(child)
                    walk(child)

    walk(tree)
    return [node for node in found if hasattr(node, "lineno")]


def is_text(node: ast.AST) -> bool:
    """Whether a node only speaks to people or to a type checker."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return name in {"cast", "TypeVar"} or name.endswith("Error")


def replacements(node: Any) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if type(operator) in SWAPPED:
                    new = copy.deepcopy(node)
                    new.ops[place] = SWAPPED[type(operator)]()
                    yield new
        case ast.BoolOp():
            new = copy.deepcopy(node)
            new.op = SWAPPED[type(node.op)]()
            yield new
            for place in range(len(node.values)):
                kept = [value for index, value in enumerate(node.values) if index != place]
                yield ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0]
        case ast.BinOp() | ast.AugAssign() if type(node.op) in SWAPPED:
            new = copy.deepcopy(node)
            new.op = SWAPPED[type(node.op)]()
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Call(args=[*_, first, second]) if swaps(node, first, second):
            new = copy.deepcopy(node)
            new.args[-2:] = [second, first]
            yield new
        case ast.If() | ast.While() | ast.IfExp():
            new = copy.deepcopy(node)
            new.test = ast.UnaryOp(ast.Not(), node.test)
            yield new
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)]) if name in names_in(node.value):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def swaps(call: ast.Call, first: ast.expr, second: ast.expr) -> bool:
    """Whether the last two arguments of a call may be exchanged, and their order matters."""
    name = ast.unparse(call.func).rpartition(".")[2]
    starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
    same = ast.unparse(first) == ast.unparse(second)
    return (
        not starred and not same and name not in {"max", "min", "maximum", "minimum", "isinstance"}
    )


def names_in(node: ast.AST) -> set[str]:
    """Names of variables that an expression reads."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


true_path = functools.cache(os.path.realpath)


class TestTookTooLongError(BaseException):
    """A test ran longer than `PATIENCE_S`."""


@contextlib.contextmanager
def patience() -> Iterator[None]:
    """Stop what takes too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TestTookTooLongError(f"longer than {PATIENCE_S} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)


class LineWatch:
    """A pytest plugin that notes which test runs which lines of some modules, and how much processor time it takes."""

    def __init__(self, files: set[str], *, slow: bool) -> None:
        self.files, self.lines = files, defaultdict[tuple[str, int], set[str]](set)
        self.slow = slow
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.test = ""
        self.packages: list[str] = []
        """Modules of other packages that the tests imported."""

    def trace(self, frame: FrameType, event: str, argument: Any) -> Traced | None:
        """Follow calls into the modules only."""
        return (
            self.note(frame, event, argument)
            if true_path(frame.f_code.co_filename) in self.files
            else None
        )

    def note(self, frame: FrameType, event: str, argument: Any) -> Traced:
        """Write a line down."""
        self.lines[true_path(frame.f_code.co_filename), frame.f_lineno].add(self.test)
        return self.note

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Stop a test that takes too long."""
        with patience():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Follow one test."""
        self.test, begun = item.nodeid, processor_seconds()
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        result = yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        self.seconds[item.nodeid] = processor_seconds() - begun
        self.test = ""
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails without any change."""
        if report.failed:
            self.failed.append(report.nodeid)


def processor_seconds() -> float:
    """Processor time of this process and of its children that have ended, which other programs do not lengthen."""
    return sum(os.times()[:4])


class FirstFailure:
    """A pytest plugin that keeps the name of the first test that fails."""

    name = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Stop a test that takes too long."""
        with patience():
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed and not self.name:
            self.name = report.nodeid


def in_fork(work: Callable[[], Any], folder: Path, limit_s: float) -> Any:
    """What ``work`` returns in a child that stands in ``folder``; None when it took too long or died."""
    ours, theirs = Pipe(duplex=False)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        os.chdir(folder)
        sys.path[:] = [str(folder), *(place for place in sys.path if place not in {"", str(ROOT)})]
        os.environ["PYTHONPATH"] = str(folder)
        for name in [name for name in sys.modules if is_ours(name)]:
            del sys.modules[name]
        try:
            theirs.send(work())
        finally:
            os._exit(0)
    theirs.close()
    answer = None
    try:
        if ours.poll(limit_s):
            answer = ours.recv()
    except EOFError:
        answer = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return answer


def is_ours(module: str) -> bool:
    """Whether a module belongs to the checkout."""
    return module.partition(".")[0] in {"lakatos", "benchmarks"}


def is_installed(module: ModuleType) -> bool:
    """Whether a module belongs to Python or to an installed package, so that no mutant changes it."""
    path = getattr(module, "__file__", None) or ""
    return "site-packages" in path or path.startswith(sys.base_prefix)


def run_tests(tests: Sequence[str], plugin: object, *options: str, slow: bool = False) -> int:
    """Run tests in this process; properties are tried on the same examples each time, and failures not made smaller."""
    found = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", phases=found, derandomize=True, database=None)
    hypothesis.settings.load_profile("mutants")
    words = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-m",
        "not long and not vllm" if slow else "not long and not slow and not vllm",
        "-k",
        "not postgres",
        *options,
        *tests,
    ]
    return int(pytest.main(words, plugins=[plugin]))


def watch(target: MutationTarget, modules: Sequence[str], folder: Path, *, slow: bool) -> LineWatch:
    """Which test runs which line, without any change."""
    tests = paths_of(target.tests, folder)

    def work() -> LineWatch:
        watched = LineWatch({true_path(str(folder / name)) for name in modules}, slow=slow)
        run_tests(tests, watched, slow=slow)
        watched.packages = [name for name, module in sys.modules.items() if is_installed(module)]
        return watched

    found = in_fork(work, folder, 3600.0)
    assert isinstance(found, LineWatch), "the tests ended without an answer"
    return found


def paths_of(patterns: Sequence[str], folder: Path) -> list[str]:
    """Files in a folder, but for those that are left out."""
    found = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    kept = [path for path in found if not any(path.match(pattern) for pattern in ELSEWHERE)]
    return [str(path.relative_to(folder)) for path in kept]


def tests_of(mutant: Mutant, watched: LineWatch, folder: Path) -> list[str]:
    """Tests that run the changed line, the quickest first, and then the others of their files."""
    path = true_path(str(folder / mutant.module))
    lines = {line: tests for (file, line), tests in watched.lines.items() if file == path}
    # A part of a long expression may have no line of its own that is run: the nearest one before it is.
    nearest = max((line for line in lines if line <= mutant.line), default=0)
    first = lines.get(nearest, set()) - {""}
    if not first and mutant.line in lines:  # run on import, for every test
        first = set().union(*lines.values()) - {""}
    files = {test.partition("::")[0] for test in first}
    others = {test for test in watched.seconds if test.partition("::")[0] in files} - first

    def quick_first(tests: set[str]) -> list[str]:
        usable = tests - set(watched.failed)
        most = SLOW_S if watched.slow else QUICK_S
        quick = [test for test in usable if watched.seconds.get(test, 0.0) <= most]
        return sorted(quick, key=lambda name: watched.seconds.get(name, 0.0))

    return quick_first(first) + quick_first(others)


def judge(mutant: Mutant, watched: LineWatch, folder: Path) -> str:
    """The test that kills a mutant, ``TOO_LONG`` or ``NO_TEST``; empty where it survives those that run its line."""
    tests = tests_of(mutant, watched, folder)
    if not tests:
        return NO_TEST
    path = folder / mutant.module
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.source, encoding="utf-8")

    def work() -> str:
        # A mutant of the same size within the same second would be taken for the one before it.
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        failure = FirstFailure()
        status = run_tests(tests, failure, "-x", slow=watched.slow)
        return failure.name or ("" if status in {0, 5} else "collection")

    limit = 3 * PATIENCE_S + 10 * sum(watched.seconds.get(test, 0.0) for test in tests)
    try:
        found = in_fork(work, folder, limit)
    finally:
        path.write_text(before, encoding="utf-8")
    return TOO_LONG if found is None else str(found)


def is_killed(killed_by: str) -> bool:
    """Whether what `judge` found is a death."""
    return bool(killed_by) and killed_by != NO_TEST


def main() -> None:
    """Try the targets and write what became of every mutant."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS))
    options.add_argument("--n", type=int, default=60, help="mutants of each target")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--minutes", type=float, default=60.0, help="for the mutants of a target")
    options.add_argument("--again", action="store_true", help="only those that survived")
    options.add_argument("--slow", action="store_true", help="tests that take seconds, too")
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/mutation.csv")
    chosen = options.parse_args()
    for name in PRELOADED:
        importlib.import_module(name)
    for name in chosen.only:
        rows = read_rows(chosen.out)
        before = [row for row in rows if row.target == name]
        with tempfile.TemporaryDirectory(prefix="lakatos-mutants-") as place:
            folder = Path(place) / "checkout"
            unwanted = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "runs", "results")
            shutil.copytree(ROOT, folder, ignore=unwanted, symlinks=True)
            trial = MutationTrial(name, folder, chosen.seed, chosen.minutes, slow=chosen.slow)
            found = trial.again(before) if chosen.again else trial.first(chosen.n)
        write_rows(chosen.out, [*(row for row in rows if row.target != name), *found])


@dataclass(frozen=True)
class MutationRow:
    """A row of the table: a target as a whole, or a mutant that survived at first."""

    target: str
    commit: str
    module: str
    """Or the seed, of a target as a whole."""
    line: int
    """0 for a target as a whole."""
    change: str
    """Or how many mutants there are, were tried, killed at first and killed now."""
    killed_by: str = ""

    @property
    def reason(self) -> str:
        """Why a mutant that no test kills does no harm; empty where that is not known."""
        path = ROOT / self.module
        if not self.line or is_killed(self.killed_by) or not path.exists():
            return ""
        (line,) = path.read_text().splitlines()[self.line - 1 :][:1] or [""]
        if line.startswith("@dataclass(frozen=True") and self.change == "True -> False":
            return "nothing assigns a field or adds one: only slips are kept out"
        for (module, change, piece), reason in EXPLAINED.items():
            if (module, change) == (self.module, self.change) and piece in line:
                return reason
        return ""


COLUMNS = ("target", "commit", "module", "line", "change", "killed_by")


def read_rows(path: Path) -> list[MutationRow]:
    """What was found before; empty where nothing was."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    return [
        MutationRow(**{name: row[name] for name in COLUMNS} | {"line": int(row["line"])})
        for row in found
    ]


def write_rows(path: Path, rows: Sequence[MutationRow]) -> None:
    """The table, targets in alphabetical order."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, "reason"])
        for row in sorted(rows, key=lambda row: (row.target, row.module, row.line, row.change)):
            writer.writerow([*(getattr(row, name) for name in COLUMNS), row.reason])


@dataclass
class MutationTrial:
    """The mutants of one target, tried in a copy of the checkout."""

    name: str
    folder: Path
    seed: int
    minutes: float
    slow: bool = False

    def __post_init__(self) -> None:
        target = TARGETS[self.name]
        modules = paths_of(target.modules, self.folder)
        self.mutants = [
            make
            for module in modules
            for make in mutants_of((self.folder / module).read_text(), module)
        ]
        self.watched = watch(target, modules, self.folder, slow=self.slow)
        for package in self.watched.packages:  # once, instead of once for every mutant
            with contextlib.suppress(Exception):
                importlib.import_module(package)
        n_tests = len(self.watched.seconds)
        print(f"{self.name}: {len(self.mutants)} mutants, {n_tests} tests", flush=True)
        print(f"failing without a change: {self.watched.failed}", flush=True)
        self.commit = str(provenance()["commit"])[:8]

    def first(self, n: int) -> list[MutationRow]:
        """Mutants in a random order, as many as the time allows: the whole, and those that survived."""
        begun, rows, n_tried = time.monotonic(), list[MutationRow](), 0
        for index in np.random.default_rng(self.seed).permutation(len(self.mutants))[:n]:
            row, n_tried = self._tried(self.mutants[index]()), n_tried + 1
            if not is_killed(row.killed_by):
                rows.append(row)
            if time.monotonic() - begun > 60 * self.minutes:
                break
        n_killed = n_tried - len(rows)
        return [self._whole(f"{len(self.mutants)} {n_tried} {n_killed} {n_killed}"), *rows]

    def again(self, before: Sequence[MutationRow]) -> list[MutationRow]:
        """Those that survived, as they are in the source of today; one whose line is gone stays as it was."""
        (whole,) = (row for row in before if not row.line)
        found = [
            row if is_killed(row.killed_by) else self._tried_again(row)
            for row in before
            if row.line
        ]
        n_mutants, n_tried, n_first, _ = map(int, whole.change.split())
        n_killed = n_tried - sum(not is_killed(row.killed_by) for row in found)
        return [self._whole(f"{n_mutants} {n_tried} {n_first} {n_killed}"), *found]

    def _whole(self, counts: str) -> MutationRow:
        return MutationRow(self.name, self.commit, f"seed {self.seed}", 0, counts)

    def _tried(self, mutant: Mutant) -> MutationRow:
        killed_by = judge(mutant, self.watched, self.folder)
        row = MutationRow(
            self.name, self.commit, mutant.module, mutant.line, mutant.change, killed_by
        )
        word = "killed  " if is_killed(killed_by) else "SURVIVED"
        print(f"{word} {row.module}:{row.line} {row.change} [{killed_by}]", flush=True)
        return row

    def _tried_again(self, row: MutationRow) -> MutationRow:
        same = [
            mutant
            for make in self.mutants
            if make.args[1] == row.module
            and (mutant := make()).change == row.change
            and abs(mutant.line - row.line) <= NEAR
        ]
        nearest = min(same, key=lambda mutant: abs(mutant.line - row.line), default=None)
        return row if nearest is None else self._tried(nearest)
