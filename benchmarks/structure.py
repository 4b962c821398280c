"""The structure of a checkout in figures: lines, rooms, imports, commands, words and result files.

    python benchmarks/run.py structure                        # this checkout, in some seconds
    python benchmarks/run.py structure OLD NEW --out FILE.csv # a table with a column for each checkout
    python benchmarks/run.py structure --list 20              # with the places behind the figures

Everything is read from the text with `ast`; nothing of a checkout is run. A room is a folder with modules directly in
it. Imports count wherever they stand: at the top, for type checkers, or inside a function (late imports); figures "at
the top" leave late ones out. A string that names a module ("lakatos.flows.cycle", also with ":name") is an edge that
readers do not see; it counts where a figure says so, unless it only starts a program (``-m``). The packages around a
module count as imported with it, because Python loads them.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
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
MOST_LINES_OF_A_ROOM = 5_000
BRANCHES = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert,
    ast.comprehension, ast.match_case,
)  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class CodeFile:
    """A module, read."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of its syntax tree."""
        return list(ast.walk(self.tree))

    @property
    def n_lines(self) -> int:
        """Lines, blank ones too."""
        return len(self.text.splitlines())

    @property
    def room(self) -> str:
        """The folder in which it stands."""
        return self.path.rpartition("/")[0]

    @property
    def module(self) -> str:
        """Its name, as it is imported."""
        name = self.path.removesuffix(".py").removesuffix("/__init__")
        return "lakatos." + name.replace("/", ".")

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods."""
        return [node for node in self.nodes if isinstance(node, Function)]


def read_files(root: Path, folders: Sequence[str] = PACKAGES) -> list[CodeFile]:
    """All modules in some folders of a checkout."""
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
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
    """McCabe's number: ways through a function, without those of functions inside it."""
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


def imports_of(file: CodeFile, modules: set[str], *, inside: bool, named: bool = False) -> set[str]:
    """Modules of the checkout that a module imports.

    Args:
        file: The module.
        modules: Names of all modules of the checkout.
        inside: Whether late imports count, those inside functions.
        named: Whether modules count that are only named by a string.
    """
    late: set[ast.AST] = set()
    if not inside:
        late = {node for function in file.functions for node in ast.walk(function)}
    found: set[str] = set()
    for node in file.nodes:
        if node in late:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{name.name}" for name in node.names}
            found |= parts & modules or {node.module}
    if named:
        found |= names_in_strings(file)
    return (found & modules) - {file.module}


def names_in_strings(file: CodeFile) -> set[str]:
    """What strings could name as a module, without the programs that they start."""
    lists = [node.elts for node in file.nodes if isinstance(node, ast.List | ast.Tuple)]
    started = {
        id(program)
        for items in lists
        for option, program in pairwise(items)
        if isinstance(option, ast.Constant) and option.value == "-m"
    }
    return {
        node.value.partition(":")[0]
        for node in file.nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in started
    }


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
    """Imports against the order of a contract of import-linter, without those that it allows."""
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    found = []
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        allowed = set(contract.get("ignore_imports", ()))
        level = {
            name.strip(): place
            for place, names in enumerate(contract["layers"])
            for name in re.split("[|:]", names)
        }
        for module, others in imports.items():
            here = _level_of(module, level)
            for other in sorted(others):
                there = _level_of(other, level)
                against = here is not None and there is not None and there < here
                if against and f"{module} -> {other}" not in allowed:
                    found.append(f"{module} -> {other}")
    return found


def _level_of(module: str, level: dict[str, int]) -> int | None:
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((level[name] for name in names if name in level), None)


def commands_of(files: Sequence[CodeFile]) -> list[tuple[str, int]]:
    """Name and number of parameters of each function that is a command: registered by Typer, or listed in a table."""
    functions = {
        function.name: function
        for file in files
        for function in file.functions
        if file.path.startswith("flows/")
    }
    found: dict[str, int] = {}
    for file in files:
        loops = {
            node.target.id: [ast.unparse(item) for item in node.iter.elts]
            for node in file.nodes
            if isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and isinstance(node.iter, ast.Tuple)
        }
        for name in _registered(file):
            for function in loops.get(name, [name]):
                if function in functions:
                    found[f"{file.path} {function}"] = len(_parameters(functions[function]))
    places = {file.path: file for file in files}
    for file in files:
        for module, name in _listed(file):
            path = f"flows/{module.replace('.', '/')}.py"
            for function in places[path].functions if path in places else ():
                if function.name == name:
                    found[f"{path} {name}"] = len(_parameters(function))
    return sorted(found.items())


def _listed(file: CodeFile) -> Iterator[tuple[str, str]]:
    """Module below `flows` and name of each function that a table of commands names as ``f"{FLOWS}.MODULE:NAME"``."""
    for node in file.nodes:
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[-1], ast.Constant):
            found = re.fullmatch(r"\.([\w.]+):(\w+)", str(node.values[-1].value))
            if found:
                yield found[1], found[2]


def _registered(file: CodeFile) -> Iterator[str]:
    """Names of functions decorated with ``app.command(...)`` or given to what it returns."""
    for node in file.nodes:
        if isinstance(node, Function) and any(map(_is_command, node.decorator_list)):
            yield node.name
        elif isinstance(node, ast.Call) and _is_command(node.func) and node.args:
            yield ast.unparse(node.args[0])


def _is_command(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "command"


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [argument.arg for argument in every]


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


@dataclass
class Figures:
    """Figures of one checkout, and the places behind some of them."""

    values: dict[str, float] = field(default_factory=dict)
    places: dict[str, Sequence[str]] = field(default_factory=dict)

    def add(self, name: str, value: float, places: Sequence[str] = ()) -> None:
        """Add a figure."""
        self.values[name], self.places[name] = value, places

    def count(self, name: str, places: Sequence[str]) -> None:
        """Add the number of some places."""
        self.add(name, len(places), places)


def measure(root: Path) -> Figures:
    """All figures of a checkout."""
    figures, files = Figures(), read_files(root)
    add_sizes(figures, root, files)
    add_imports(figures, root, files)
    add_functions(figures, root, files)
    add_rooms(figures, files)
    return figures


def add_sizes(figures: Figures, root: Path, files: Sequence[CodeFile]) -> None:
    """Lines and nodes of packages, tests and benchmarks; commands, words and result files."""
    others = {name: read_files(root, [name]) for name in ("tests", "benchmarks")}
    packages = {
        name: [file for file in files if file.path.startswith(name + "/")] for name in PACKAGES
    }
    for name, own in {"product": files, **packages, **others}.items():
        figures.add(f"lines {name}", sum(file.n_lines for file in own))
        figures.add(f"nodes {name}", sum(len(file.nodes) for file in own))
    commands = commands_of(files)
    figures.count("commands", [name for name, _ in commands])
    figures.add("parameters of commands", sum(n for _, n in commands))
    figures.add("keys of a study", n_keys(json.loads((root / "studies/schema.json").read_text())))
    pages = sorted((root / "docs").rglob("*.md"))
    words = {str(page.relative_to(root)): len(page.read_text().split()) for page in pages}
    longest = sorted(words, key=lambda page: -words[page])
    figures.add("words in docs", sum(words.values()), [f"{words[page]} {page}" for page in longest])
    results = [path for path in (root / "benchmarks/results").rglob("*.*") if path.is_file()]
    results.sort(key=lambda path: -path.stat().st_size)
    places = [f"{path.stat().st_size} {path.relative_to(root)}" for path in results]
    figures.count("result files", places)
    figures.add("bytes of result files", sum(path.stat().st_size for path in results))


def n_keys(schema: object) -> int:
    """Properties that a JSON schema declares, those inside its definitions too."""
    if isinstance(schema, dict):
        own = schema.get("properties", {})
        return len(own) + sum(map(n_keys, schema.values()))
    return sum(map(n_keys, schema)) if isinstance(schema, list) else 0


def add_imports(figures: Figures, root: Path, files: Sequence[CodeFile]) -> None:
    """Imports between rooms, circles, and what the cycle loads."""
    modules = {file.module: file for file in files}
    at_the_top = {file.module: imports_of(file, set(modules), inside=False) for file in files}
    everything = {file.module: imports_of(file, set(modules), inside=True) for file in files}
    with_names = {
        file.module: imports_of(file, set(modules), inside=True, named=True) for file in files
    }
    between = [
        (modules[module].room, modules[other].room)
        for module, others in everything.items()
        for other in others
        if modules[module].room != modules[other].room
    ]
    figures.add("modules", len(files))
    figures.add("rooms", len({file.room for file in files}))
    figures.add("imports between rooms", len(between))
    figures.count("pairs of rooms with imports", [f"{a} -> {b}" for a, b in sorted(set(between))])
    figures.count("imports against a contract", layers_broken(root, everything))
    for name, imports in (
        ("at the top", at_the_top),
        ("late imports counted", everything),
        ("late imports and names counted", with_names),
    ):
        places = [", ".join(sorted(group)) for group in circles(imports)]
        figures.count(f"circles, {name}", places)
        loaded = [
            modules[module]
            for module in sorted(reached_from("lakatos.flows.cycle", with_packages(imports)))
        ]
        loaded.sort(key=lambda file: -file.n_lines)
        places = [f"{file.n_lines} {file.path}" for file in loaded]
        figures.count(f"modules that the cycle loads, {name}", places)
        figures.add(f"lines that the cycle loads, {name}", sum(file.n_lines for file in loaded))


def add_functions(figures: Figures, root: Path, files: Sequence[CodeFile]) -> None:
    """Length and ways through functions, what a line holds, and what nothing uses."""
    functions = [(f"{file.path} {item.name}", item) for file in files for item in file.functions]
    lengths = sorted(((n_lines_of(item), name) for name, item in functions), reverse=True)
    figures.count("functions over 50 lines", [f"{n} {name}" for n, name in lengths if n > 50])
    ways = sorted(((complexity_of(item), name) for name, item in functions), reverse=True)
    figures.count("functions with complexity over 15", [f"{n} {w}" for n, w in ways if n > 15])
    n_lines = sum(n_lines_of(item) for _, item in functions)
    n_expressions = sum(n_expressions_of(item) for _, item in functions)
    figures.add("expressions a line", round(n_expressions / n_lines, 2))
    only_tests, nowhere = without_use(root, files)
    figures.count("used only by tests and benchmarks", only_tests)
    figures.count("used by nothing", nowhere)


def add_rooms(figures: Figures, files: Sequence[CodeFile]) -> None:
    """Lines and nodes of each room, and how many rooms are large."""
    lines, nodes = Counter[str](), Counter[str]()
    for file in files:
        lines[file.room] += file.n_lines
        nodes[file.room] += len(file.nodes)
    large = [f"{n} {room}" for room, n in lines.most_common() if n > MOST_LINES_OF_A_ROOM]
    figures.count(f"rooms over {MOST_LINES_OF_A_ROOM} lines", large)
    for room in sorted(lines):
        figures.add(f"lines {room}/", lines[room])
        figures.add(f"nodes {room}/", nodes[room])


def commit_of(root: Path) -> str:
    """The commit that a checkout shows."""
    words = ["git", "-C", str(root), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of one checkout or more, and write them as a table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("checkouts", nargs="*", type=Path, default=[ROOT])
    options.add_argument("--list", type=int, default=0, metavar="N", help="places of each figure")
    options.add_argument("--out", type=Path, help="a CSV table with a column for each checkout")
    chosen = options.parse_args(arguments)
    columns = {commit_of(root): measure(root.resolve()) for root in chosen.checkouts}
    names = list(dict.fromkeys(name for figures in columns.values() for name in figures.values))
    rows = [[name, *(it.values.get(name, "") for it in columns.values())] for name in names]
    for row in rows:
        print(*row, sep="\t")
        for figures in columns.values():
            for place in figures.places.get(row[0], ())[: chosen.list]:
                print("   ", place)
    if chosen.out:
        with chosen.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["figure", *columns], *rows])
