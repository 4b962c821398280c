"""How easy the code is to read: every figure that the project holds itself to, one a line.

    python benchmarks/house.py                 # of this checkout, in some seconds
    python benchmarks/house.py --list 20       # with the places behind the figures, the worst first

Lines, folders, files, functions, classes and names are counted from the text. Imports are followed with those for type
checkers, of one module all names it is asked for, and with the packages around each module; what a table of plugins or
a function loads later is not counted. Functions are measured as `ruff format` writes them at 88 columns, so that long
lines hide nothing.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "flows",
    "memory",
    "judges",
    "domains",
    "theories",
    "experiments",
    "language_models",
    "traces",
)
BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert,
    ast.comprehension, ast.match_case,
)  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef
ONE_FILE_ON_PURPOSE = ("traces/standalone.py",)
"""Copied into every bundle, where one file with nothing around it checks a run."""


@dataclass(frozen=True)
class CodeFile:
    """A module of the product, read."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @property
    def n_lines(self) -> int:
        """Lines, blank ones too."""
        return len(self.text.splitlines())

    @property
    def module(self) -> str:
        """Its name, as it is imported."""
        return "lakatos." + self.path.removesuffix(".py").removesuffix("/__init__").replace(
            "/", "."
        )

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]

    @property
    def classes(self) -> list[ast.ClassDef]:
        """Classes that stand at the top of the module."""
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef)]


def read_files(root: Path) -> list[CodeFile]:
    """All modules of the product."""
    paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    return [CodeFile(str(path.relative_to(root)), path.read_text()) for path in paths]


def body_of(function: Function) -> list[ast.stmt]:
    """Statements without the docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def n_lines_of(function: Function) -> int:
    """Lines from the first statement to the last."""
    body = body_of(function)
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def n_expressions_of(function: Function) -> int:
    """Expressions in the body; those of functions inside it count too."""
    nodes = (node for statement in body_of(function) for node in ast.walk(statement))
    return sum(isinstance(node, ast.expr) for node in nodes)


def complexity_of(function: Function) -> int:
    """McCabe's number: ways through a function, those of functions inside it left out."""
    found, todo = 1, list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, Function | ast.ClassDef):
            continue
        found += isinstance(node, BRANCHES)
        if isinstance(node, ast.comprehension):
            found += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        todo += ast.iter_child_nodes(node)
    return found


def imports_of(file: CodeFile, modules: set[str], *, inside: bool) -> set[str]:
    """Modules of the product that a module imports; ``inside`` counts imports inside functions too."""
    hidden: set[ast.AST] = set()
    if not inside:
        hidden = {node for function in file.functions for node in ast.walk(function)}
    found: set[str] = set()
    for node in ast.walk(file.tree):
        if node in hidden:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{name.name}" for name in node.names}
            found |= parts & modules or {node.module}
    return (found & modules) - {file.module}


def with_packages(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """The imports, and the packages that Python loads before each of them."""

    def packages_of(module: str) -> set[str]:
        parts = module.split(".")
        return {".".join(parts[:n]) for n in range(1, len(parts))} & imports.keys()

    return {
        module: (others | packages_of(module)).union(*map(packages_of, others)) - {module}
        for module, others in imports.items()
    }


def reached_from(start: str, imports: dict[str, set[str]]) -> set[str]:
    """All modules that importing one loads."""
    found, todo = {start}, [start]
    while todo:
        new = imports[todo.pop()] - found
        found |= new
        todo += new
    return found


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules each of which imports, in the end, every other one of its group."""
    left = dict(imports)
    # A module that imports nothing of what is left can be in no circle.
    while ends := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in ends}
    imports = {name: others & left.keys() for name, others in left.items()}
    reached = {name: reached_from(name, imports) for name in imports}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other]) for name in imports
    }
    return [set(group) for group in groups if len(group) > 1]


def layers_broken(root: Path, imports: dict[str, set[str]]) -> list[str]:
    """Imports against the order of a contract of import-linter."""
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    found = []
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        level = {
            name.strip(): place
            for place, names in enumerate(contract["layers"])
            for name in re.split("[|:]", names)
        }
        for module, others in imports.items():
            here = _level_of(module, level)
            for other in sorted(others):
                there = _level_of(other, level)
                if here is not None and there is not None and there < here:
                    found.append(f"{module} -> {other}")
    return found


def _level_of(module: str, level: dict[str, int]) -> int | None:
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((level[name] for name in names if name in level), None)


def domain_names(root: Path) -> set[str]:
    """Names of the kinds of tasks, as the table of domains has them."""
    tree = ast.parse((root / "experiments" / "domains" / "__init__.py").read_text())
    tables = [node.value for node in ast.walk(tree) if isinstance(node, ast.AnnAssign | ast.Assign)]
    constants = (node for table in tables if table for node in ast.walk(table))
    return {
        node.value
        for node in constants
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def branches_on(file: CodeFile, names: set[str]) -> Iterator[int]:
    """Lines that compare something with one of some names."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Compare):
            values = (part for side in (node.left, *node.comparators) for part in ast.walk(side))
            if any(isinstance(part, ast.Constant) and part.value in names for part in values):
                yield node.lineno


def runs_text(file: CodeFile) -> Iterator[int]:
    """Lines that call ``exec``, ``eval`` or ``compile``."""
    for node in ast.walk(file.tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("exec", "eval", "compile"):
            yield node.lineno  # type: ignore[attr-defined]


def without_use(root: Path, files: Sequence[CodeFile]) -> tuple[list[str], list[str]]:
    """Functions and classes that only tests and benchmarks name, and those that nothing names."""
    product = Counter(word for file in files for word in re.findall(r"\w+", file.text))
    for place in ("lakatos/__init__.py", "start.py", "pyproject.toml"):
        product.update(re.findall(r"\w+", (root / place).read_text()))
    for pattern in ("*.html", "*.md", "*.js"):
        for package in PACKAGES:
            for path in (root / package).rglob(pattern):
                product.update(re.findall(r"\w+", path.read_text(errors="replace")))
    others = Counter[str]()
    for folder in ("tests", "benchmarks", "docs"):
        for path in (root / folder).rglob("*.*"):
            if path.suffix in (".py", ".md"):
                others.update(re.findall(r"\w+", path.read_text(errors="replace")))
    only_tests, nowhere = [], []
    for file in files:
        for node in file.tree.body:
            if not isinstance(node, Function | ast.ClassDef) or product[node.name] > 1:
                continue
            # What a decorator registers is called through it.
            if isinstance(node, ast.ClassDef) or not node.decorator_list:
                place = f"{file.path}:{node.lineno} {node.name}"
                (only_tests if others[node.name] else nowhere).append(place)
    return only_tests, nowhere


def formatted(files: Sequence[CodeFile]) -> list[CodeFile]:
    """The files as ruff writes them at 88 columns."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            place = Path(folder, file.path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file.text)
        ruff = shutil.which("ruff") or str(Path(sys.executable).parent / "ruff")
        words = [ruff, "format", "--quiet", "--isolated", "--line-length", "88", folder]
        subprocess.run(words, check=True)
        return [CodeFile(file.path, Path(folder, file.path).read_text()) for file in files]


def functions_of(files: Sequence[CodeFile]) -> list[tuple[CodeFile, Function]]:
    """All functions with their files."""
    return [(file, function) for file in files for function in file.functions]


class Figures:
    """Prints figures, and the places behind each where these are asked for."""

    def __init__(self, n_places: int) -> None:
        self.n_places = n_places

    def tell(self, name: str, value: object, places: Sequence[str] = ()) -> None:
        """One figure."""
        print(name, value)
        for place in places[: self.n_places]:
            print("   ", place)

    def count(self, name: str, places: Sequence[str]) -> None:
        """The number of some places."""
        self.tell(name, len(places), places)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--root", type=Path, default=ROOT)
    options.add_argument("--list", type=int, default=0, metavar="N", help="places of each figure")
    chosen = options.parse_args(arguments)
    root, figures = chosen.root.resolve(), Figures(chosen.list)
    files = read_files(root)
    tell_sizes(figures, files)
    tell_functions(figures, files)
    tell_names(figures, files)
    tell_imports(figures, root, files)
    tell_habits(figures, root, files)


def tell_sizes(figures: Figures, files: Sequence[CodeFile]) -> None:
    """Lines, and how they are spread over folders and files."""
    figures.tell("lines", sum(file.n_lines for file in files))
    for package in PACKAGES:
        own = [file for file in files if file.path.startswith(package + "/")]
        flat = [file for file in own if file.path.count("/") == 1]
        figures.tell(f"lines.{package}", sum(file.n_lines for file in own))
        figures.tell(f"flat_files.{package}", len(flat))
    folders = Counter(file.path.rpartition("/")[0] for file in files).most_common()
    figures.count("folders_over_25_files", [f"{n} {name}" for name, n in folders if n > 25])
    long = sorted(files, key=lambda file: -file.n_lines)
    figures.count(
        "files_over_600_lines",
        [
            f"{f.n_lines} {f.path}"
            for f in long
            if f.n_lines > 600 and f.path not in ONE_FILE_ON_PURPOSE
        ],
    )
    figures.count("long_files_that_are_one_on_purpose", ONE_FILE_ON_PURPOSE)


def tell_functions(figures: Figures, files: Sequence[CodeFile]) -> None:
    """Length, ways through, what they are given, and how much a line holds."""
    measured = [
        (n_lines_of(f), f"{file.path} {f.name}") for file, f in functions_of(formatted(files))
    ]
    measured.sort(reverse=True)
    places = [f"{n} {where}" for n, where in measured if n > 50]
    figures.count("functions_over_50_lines_at_88_columns", places)
    figures.tell("longest_function_at_88_columns", measured[0][0], [measured[0][1]])
    functions = functions_of(files)
    ways = sorted(
        ((complexity_of(f), f"{file.path} {f.name}") for file, f in functions), reverse=True
    )
    figures.count("functions_with_complexity_over_15", [f"{n} {w}" for n, w in ways if n > 15])
    given = [
        f"{file.path}:{function.lineno} {function.name}"
        for file, function in functions
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if argument.arg == "run"
    ]
    figures.count("run_as_a_parameter", given)
    n_lines = sum(n_lines_of(function) for _, function in functions)
    n_expressions = sum(n_expressions_of(function) for _, function in functions)
    dense = sorted(functions, key=lambda it: 4.5 * n_lines_of(it[1]) - n_expressions_of(it[1]))
    figures.tell(
        "expressions_a_line",
        round(n_expressions / n_lines, 2),
        [f"{n_expressions_of(f)} in {n_lines_of(f)} {file.path} {f.name}" for file, f in dense],
    )


def tell_names(figures: Figures, files: Sequence[CodeFile]) -> None:
    """Names of classes, and fields of the state."""
    where: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for node in file.classes:
            where[node.name.lstrip("_")].add(file.path)
            if node.name == "RunState":
                fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
                figures.tell("fields_of_the_state", len(fields))
    n_classes = sum(len(file.classes) for file in files)
    short = [name for name in where if re.fullmatch("[A-Z][a-z]+", name)]
    shared = {name: places for name, places in where.items() if len(places) > 1}
    n_short, n_shared = (sum(len(where[name]) for name in names) for names in (short, shared))
    figures.tell("one_word_classes_percent", round(100 * n_short / n_classes, 1), short)
    places = [f"{name}: {', '.join(sorted(own))}" for name, own in shared.items()]
    figures.tell("shared_class_names_percent", round(100 * n_shared / n_classes, 1), places)


def tell_imports(figures: Figures, root: Path, files: Sequence[CodeFile]) -> None:
    """What imports what."""
    modules = {file.module: file for file in files}
    loaded = {file.module: imports_of(file, set(modules), inside=False) for file in files}
    everything = {file.module: imports_of(file, set(modules), inside=True) for file in files}
    figures.count("imports_against_a_contract", layers_broken(root, everything))
    for name, imports in (("", loaded), ("_with_imports_inside_functions", everything)):
        figures.count("circles" + name, [", ".join(sorted(group)) for group in circles(imports)])
    pulled = reached_from("lakatos.flows.cycle", with_packages(loaded))
    figures.tell("modules_that_the_cycle_pulls_in", len(pulled))
    figures.tell("lines_that_the_cycle_pulls_in", sum(modules[name].n_lines for name in pulled))


def tell_habits(figures: Figures, root: Path, files: Sequence[CodeFile]) -> None:
    """Text that is run, branches on names, and what nothing needs."""
    text_run = [
        f"{file.path}:{line}"
        for file in files
        if not file.path.startswith("theories/engine/sandbox/")
        for line in runs_text(file)
    ]
    figures.count("text_run_outside_the_sandbox", text_run)
    names = domain_names(root)
    by_name = [f"{file.path}:{line}" for file in files for line in branches_on(file, names)]
    figures.count("branches_on_a_domain_s_name", by_name)
    only_tests, nowhere = without_use(root, files)
    figures.count("only_tests_and_benchmarks_use", only_tests)
    figures.count("nothing_uses", nowhere)


if __name__ == "__main__":
    main()
