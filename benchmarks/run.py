"""Run a benchmark by its name: ``python benchmarks/run.py theories/planted --seeds 0 1``.

    python benchmarks/run.py                        # the names, and what each measures
    python benchmarks/run.py judges/gate --help     # what a benchmark can be given
    python benchmarks/run.py --tables               # make the tables of all raw results anew

A benchmark writes what it found below ``benchmarks/raw`` and goes on from there when it is run again; when it ends,
its table below ``benchmarks/results`` is made from that (`benchmarks.tables`). Run one from a clone of the commit that
it is to name, on a quiet machine.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:1] = [str(HERE.parent)]
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before NumPy is loaded


def benchmarks() -> dict[str, str]:
    """What every benchmark measures, by name: modules with a function ``main``."""
    found = {}
    for path in sorted(HERE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        names = [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]
        if "main" in names and path != Path(__file__).resolve():
            name = str(path.relative_to(HERE).with_suffix(""))
            found[name] = (ast.get_docstring(tree) or "").splitlines()[0]
    return found


def main() -> None:
    """List benchmarks, or run one and make its tables."""
    from benchmarks.tables import RAW, write_table

    names, words = benchmarks(), sys.argv[1:]
    if words[:1] == ["--tables"]:
        print(*map(write_table, sorted(RAW.rglob("*.json"))), sep="\n")
    elif not words or words[0] not in names:
        print(*(f"{name:28s} {what}" for name, what in names.items()), sep="\n")
        if words:
            sys.exit(f"there is no benchmark {words[0]!r}; the names are above.")
    else:
        before = {path: path.stat().st_mtime_ns for path in RAW.rglob("*.json")}
        (RAW / words[0]).parent.mkdir(parents=True, exist_ok=True)
        sys.argv = [f"benchmarks/run.py {words[0]}", *words[1:]]
        try:
            importlib.import_module("benchmarks." + words[0].replace("/", ".")).main()
        finally:
            for path in sorted(RAW.rglob("*.json")):
                if before.get(path) != path.stat().st_mtime_ns:
                    print(write_table(path))


if __name__ == "__main__":
    main()
