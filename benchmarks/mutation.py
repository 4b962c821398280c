"""Change one thing in a module and see whether a test fails.

    python benchmarks/mutation.py                        # every target; benchmarks/results/mutation.json
    python benchmarks/mutation.py --only prolific --n 60

A mutant differs from the source in one place: a comparison, an operator, a constant, a condition turned round, a call
left out, nothing returned. Texts of errors, docstrings and types are left alone. Where a target has more mutants than
``--n``, a sample is drawn with a seed, and the share of mutants that are killed has a Wilson interval.

Which tests run which line is found once; a mutant meets the tests that run its line, the quickest first, and then the
others of their files, which may look at what a shared fixture did. It is killed when a test fails, or takes ten times
as long. Tests run in a copy of the checkout, in forks of one process.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import functools
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import Pipe
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import hypothesis  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

from benchmarks.provenance import provenance  # noqa: E402
from flows.reading import wilson  # noqa: E402

PRELOADED = ("numpy", "scipy.stats", "pydantic", "hypothesis", "httpx", "fastapi", "cryptography", "xarray")
"""Loaded before forking; nothing of the laboratory is."""
PATIENCE_S = 60.0
"""A mutant that keeps its tests busy for ten times as long as the source does, and this, is killed."""
Traced = Callable[[FrameType, str, Any], Any]


@dataclass(frozen=True)
class MutationTarget:
    """Modules, and the tests that ought to hold them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "traces": MutationTarget(
        ("traces/*.py", "traces/stores/sqlite.py"), ("tests/traces", "tests/flows/test_backup.py")
    ),
    "gate": MutationTarget(("judges/gate.py",), ("tests/judges/test_gate.py", "tests/judges/test_epoch.py")),
    "prolific": MutationTarget(
        ("experiments/participants/prolific/*.py",), ("tests/experiments/participants/test_prolific_*.py",)
    ),
    "score": MutationTarget(
        ("theories/score.py",), ("tests/theories/test_score.py", "tests/theories/test_scoreboard.py")
    ),
    "scoring": MutationTarget(("flows/score.py", "flows/stages/score.py"), ("tests/flows/test_smoke.py",)),
}
ELSEWHERE = ("*/rehearsal.py", "*/stand_in.py", "traces/object_store.py")
"""Stand-ins of services, which are tests themselves, and a store that needs a server."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    change: str
    source: str


@dataclass(frozen=True)
class MutantOutcome:
    """What became of a mutant."""

    module: str
    line: int
    change: str
    killed: bool
    how: str
    """The test that failed, ``timeout``, or ``no test runs this line``."""


SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def mutants_of(source: str, module: str) -> Iterator[Callable[[], Mutant]]:
    """Every mutant of a module, made when it is called."""
    tree = ast.parse(source)
    for index, node in enumerate(told_nodes(tree)):
        for number in range(len(list(replacements(node)))):
            yield functools.partial(make_mutant, source, module, index, number)


def make_mutant(source: str, module: str, index: int, number: int) -> Mutant:
    """The module with one replacement of one of its nodes."""
    tree = ast.parse(source)
    node = told_nodes(tree)[index]
    new = list(replacements(node))[number]
    before, after = ast.unparse(node).splitlines()[0], ast.unparse(new).splitlines()[0]
    changed = ast.fix_missing_locations(Exchange(node, new).visit(tree))
    return Mutant(module, node.lineno, f"{before[:80]} -> {after[:80]}", ast.unparse(changed))


class Exchange(ast.NodeTransformer):
    """Puts one node in the place of another,."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        """The new node, or the node with its children visited."""
        return self.new if node is self.old else self.generic_visit(node)


def told_nodes(tree: ast.Module) -> list[Any]:
    """Nodes whose meaning a test could see: no types, docstrings, imports, or texts of errors and of formatting."""
    found: list[Any] = []

    def walk(node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "type_params"} or (name == "bases" and isinstance(node, ast.ClassDef)):
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
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {"cast", "TypeVar"}


def replacements(node: Any) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if type(operator) in SWAPPED:
                    new = copy.deepcopy(node)
                    new.ops[place] = SWAPPED[type(operator)]()
                    yield new
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in SWAPPED:
            new = copy.deepcopy(node)
            new.op = SWAPPED[type(node.op)]()
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str() as value):
            yield ast.Constant(f"XX{value}")
        case ast.If() | ast.While() | ast.IfExp():
            new = copy.deepcopy(node)
            new.test = ast.UnaryOp(ast.Not(), node.test)
            yield new
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


true_path = functools.cache(os.path.realpath)


class LineWatch:
    """A pytest plugin that notes which test runs which lines of some modules, and how long each test takes."""

    def __init__(self, files: set[str]) -> None:
        self.files, self.lines = files, defaultdict[tuple[str, int], set[str]](set)
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.test = ""

    def trace(self, frame: FrameType, event: str, argument: Any) -> Traced | None:
        """Follow calls into the modules only."""
        return self.note(frame, event, argument) if true_path(frame.f_code.co_filename) in self.files else None

    def note(self, frame: FrameType, event: str, argument: Any) -> Traced:
        """Write a line down."""
        self.lines[true_path(frame.f_code.co_filename), frame.f_lineno].add(self.test)
        return self.note

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Follow one test."""
        self.test, begun = item.nodeid, time.monotonic()
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        result = yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        self.seconds[item.nodeid] = time.monotonic() - begun
        self.test = ""
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails without any change."""
        if report.failed:
            self.failed.append(report.nodeid)


class FirstFailure:
    """A pytest plugin that keeps the name of the first test that fails."""

    name = ""

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
    return module.partition(".")[0] in {path.name for path in ROOT.iterdir() if path.is_dir()} - {"tests"}


def run_tests(tests: Sequence[str], plugin: object, *options: str) -> int:
    """Run tests in this process; properties are tried on the same examples each time, and failures not made smaller."""
    found = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", phases=found, derandomize=True, database=None)
    hypothesis.settings.load_profile("mutants")
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long and not vllm", *options, *tests]
    return int(pytest.main(words, plugins=[plugin]))


def watch(target: MutationTarget, modules: Sequence[str], folder: Path) -> LineWatch:
    """Which test runs which line, without any change."""
    tests = [str(path.relative_to(folder)) for pattern in target.tests for path in sorted(folder.glob(pattern))]

    def work() -> LineWatch:
        watched = LineWatch({true_path(str(folder / name)) for name in modules})
        run_tests(tests, watched)
        return watched

    found = in_fork(work, folder, 3600.0)
    assert isinstance(found, LineWatch), "the tests ended without an answer"
    return found


def judge(mutant: Mutant, watched: LineWatch, folder: Path) -> MutantOutcome:
    """Run the tests that run the changed line, the quickest first."""
    path = folder / mutant.module
    lines = {line: tests - {""} for (file, line), tests in watched.lines.items() if file == true_path(str(path))}
    all_tests = set().union(*lines.values())
    # What runs on import runs for every test of the module.
    first = lines.get(mutant.line) or all_tests
    files = {test.partition("::")[0] for test in first}
    then = {test for test in watched.seconds if test.partition("::")[0] in files}
    ordered = [
        test
        for tests in (first, then - first)
        for test in sorted(tests - set(watched.failed), key=lambda name: watched.seconds.get(name, 0.0))
    ]
    told = {key: value for key, value in asdict(mutant).items() if key != "source"}
    if not ordered:
        return MutantOutcome(**told, killed=False, how="no test runs this module")
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.source, encoding="utf-8")

    def work() -> str:
        failure = FirstFailure()
        status = run_tests(ordered, failure, "-x")
        return failure.name or ("" if status in {0, 5} else "collection")

    limit = PATIENCE_S + 10 * sum(watched.seconds.get(test, 0.0) for test in ordered)
    try:
        found = in_fork(work, folder, limit)
    finally:
        path.write_text(before, encoding="utf-8")
    how = "timeout" if found is None else found or f"survived {len(ordered)} tests"
    return MutantOutcome(**told, killed=found is None or bool(found), how=how)


def main() -> None:
    """Try the targets and write what became of every mutant."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS))
    options.add_argument("--n", type=int, default=60, help="mutants of each target")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "mutation.json")
    chosen = options.parse_args()
    for name in PRELOADED:
        importlib.import_module(name)
    results = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    for name in chosen.only:
        with tempfile.TemporaryDirectory(prefix="lakatos-mutants-") as place:
            folder = Path(place) / "checkout"
            unwanted = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "runs", "build", "results")
            shutil.copytree(ROOT, folder, ignore=unwanted, symlinks=True)
            results[name] = try_target(TARGETS[name], folder, chosen.n, chosen.seed)
        chosen.out.write_text(json.dumps(results, indent=1) + "\n")


def try_target(target: MutationTarget, folder: Path, n: int, seed: int) -> dict[str, Any]:
    """Draw mutants of a target and judge them."""
    paths = sorted({path for pattern in target.modules for path in folder.glob(pattern)})
    kept = [path for path in paths if not any(path.match(pattern) for pattern in ELSEWHERE)]
    modules = [str(path.relative_to(folder)) for path in kept]
    mutants = [make for name in modules for make in mutants_of((folder / name).read_text(), name)]
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(mutants))[:n]
    watched = watch(target, modules, folder)
    print(f"{modules}: {len(mutants)} mutants, {len(watched.seconds)} tests, failing: {watched.failed}", flush=True)
    outcomes = []
    for index in drawn:
        outcomes.append(judge(mutants[index](), watched, folder))
        found = outcomes[-1]
        print(f"{'killed  ' if found.killed else 'SURVIVED'} {found.module}:{found.line} {found.change}", flush=True)
    killed = sum(item.killed for item in outcomes)
    low, high = wilson(np.asarray(killed / len(outcomes)), np.asarray(len(outcomes)))
    return {
        **provenance(),
        "modules": modules,
        "seed": seed,
        "n_mutants": len(mutants),
        "n_tried": len(outcomes),
        "n_killed": killed,
        "killed": killed / len(outcomes),
        "interval": [float(low), float(high)],
        "survivors": [asdict(item) for item in outcomes if not item.killed],
        "outcomes": [asdict(item) for item in outcomes if item.killed],
    }


if __name__ == "__main__":
    main()
