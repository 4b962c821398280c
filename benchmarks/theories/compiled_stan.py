"""Log likelihoods of hBayesDM's models beside their own Stan programs, compiled.

    python benchmarks/run.py theories/compiled_stan --hbayesdm COPY --httpstan PACKAGE [--models dd_exp ra_prospect]

``COPY`` is hBayesDM's repository, ``PACKAGE`` the folder of an installed httpstan (4.13), of which the compiler, the
headers and the library are used. Of each model the first two participants of its own example file are prepared by
hBayesDM's own functions. The program computes their parameters from drawn scores, and ``log_lik``; the same parameters
are given to the function that `theory import` makes. Only the declarations of arrays are rewritten, which the compiler
no longer reads in the old form. A model takes about a quarter of a minute to compile.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.notebook.answers import table_of
from lakatos.flows.notebook.likelihood import imported_likelihood
from lakatos.theories.engine.sandbox.likelihoods import LikelihoodSandbox, limits_of_calls
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.likelihood import Said
from lakatos.theories.findings.exchange.pymc_model import as_name

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "compiled_stan.json"
N_PEOPLE, N_VECTORS, SEED = 2, 3, 1
TYPE = (
    r"((?:int|real|vector|row_vector|matrix|simplex|ordered)"
    r"(?:<[^>]*(?:\([^)]*\))?[^>]*>)?(?:\s*\[[^\]]*\])?)"
)
HEADER = """
#ifndef MODEL_HEADER
#define MODEL_HEADER
#include <stan/math/prim.hpp>
#include <stan/math/rev/core/profiling.hpp>
#include <stan/io/deserializer.hpp>
#include <stan/io/serializer.hpp>
#include <stan/io/dump.hpp>
#include <stan/model/rethrow_located.hpp>
#include <stan/model/prob_grad.hpp>
#include <stan/model/indexing.hpp>
#include <stan/services/util/create_rng.hpp>
#include <fstream>
#include <iostream>
namespace stan { namespace model {
class model_base : public prob_grad {
 public: model_base(size_t n) : prob_grad(n) {} virtual ~model_base() {}
};
template <class M> class model_base_crtp : public model_base {
 public: model_base_crtp(size_t n) : model_base(n) {}
};
}}
#endif
"""
"""In place of Stan's own, without gradients: a model compiles ten times faster."""
MAIN = """
int main(int argc, char** argv) {
  std::ifstream in(argv[1]);
  stan::io::dump data(in);
  hb_model__namespace::hb_model_ model(data, 1, &std::cerr);
  if (argc > 3) {
    std::vector<std::string> names;
    model.constrained_param_names(names, true, true);
    for (auto& name : names) std::cout << name << "\\n";
    std::cerr << model.num_params_r() << "\\n";
    return 0;
  }
  auto rng = stan::services::util::create_rng(1, 0);
  std::ifstream given(argv[2]);
  std::vector<double> scores(model.num_params_r()), found;
  std::vector<int> none;
  size_t n;
  given >> n;
  std::cout.precision(17);
  for (size_t k = 0; k < n; ++k) {
    for (auto& score : scores) given >> score;
    model.write_array(rng, scores, none, found, true, true, &std::cerr);
    for (double value : found) std::cout << value << " ";
    std::cout << "\\n";
  }
}
"""
"""Prints the names of a program's variables, or their values at the scores of a file."""


def in_new_syntax(text: str) -> str:
    """A Stan program with its arrays declared as the compiler reads them."""
    text = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(\s*)#", r"\1//", text, flags=re.MULTILINE)
    text = re.sub(TYPE + r"\s+(\w+)\s*\[([^\]]*)\](\s*(?:;|=))", r"array[\3] \1 \2\4", text)
    text = re.sub(
        r"\b(int|real|vector|matrix)\s*\[([\s,]*)\]\s+(\w+)\s*(?=[,)(])", r"array[\2] \1 \3", text
    )
    return text.replace("fabs(", "abs(").replace("<-", "=")


def compiled(program: Path, package: Path, folder: Path) -> Path:
    """The executable of a Stan program."""
    built = folder / program.stem
    if built.exists():
        return built
    include = package / "include"
    header = folder / "stan" / "model" / "model_header.hpp"
    flags = ["-std=c++17", "-O0", "-w", "-DUSE_STANC3", "-D_REENTRANT", "-DTBB_INTERFACE_NEW"]
    flags += [f"-I{folder}", f"-I{include}"]
    if not header.exists():
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(HEADER)
        subprocess.run(["g++", *flags, "-x", "c++-header", header], check=True)
    source, code = folder / program.name, folder / f"{program.stem}.cpp"
    source.write_text(in_new_syntax(program.read_text(encoding="utf-8")))
    subprocess.run(
        [package / "stanc", source, "--name", "hb_model_", "--o", code], check=True, capture_output=True
    )  # fmt: skip
    text = re.sub(r" final( \{)?$", r"\1", code.read_text(), flags=re.MULTILINE)
    code.write_text(re.sub(r" final (?=\{|:)", " ", text) + MAIN)
    library = package / "lib"
    linked = [f"-L{library}", "-ltbb", f"-Wl,-rpath,{library}"]
    subprocess.run(["g++", *flags, code, "-o", built, *linked], check=True)
    return built


def prepared(copy: Path, described: Mapping[str, Any], table: pd.DataFrame) -> dict[str, Any]:
    """Data of a program, by hBayesDM's own functions."""
    common = copy / "commons"
    text = (copy / "Python/hbayesdm/preprocess_funcs.py").read_text()
    text = text.replace("from hbayesdm.base import PATH_COMMON", "")
    functions: dict[str, Any] = {"PATH_COMMON": str(common)}
    exec(text, functions)
    kind, task = described["model_type"]["code"] or "", described["task_name"]["code"] or "hgf_ibrb"
    function = functions[f"{task}{'_' * bool(kind)}{kind}_preprocess_func"]
    given = {item["code"]: item.get("default") for item in described.get("additional_args") or []}
    by = ["subjid", "block"] if kind == "multipleB" or "block" in table else ["subjid"]
    by = by if kind == "multipleB" or task == "hgf_ibrb" else ["subjid"]
    groups = table.groupby(by, sort=False)
    sizes = groups.size()
    people = list(dict.fromkeys(table["subjid"]))
    general: dict[str, Any] = {"grouped_data": groups, "subjs": people, "n_subj": len(people)}
    general |= {"b_subjs": None, "b_max": None, "t_subjs": list(sizes), "t_max": int(sizes.max())}
    if len(by) == 2:
        trials = [list(sizes[name]) for name in people]
        general |= {"t_subjs": trials, "b_subjs": list(map(len, trials))}
        general["b_max"] = max(general["b_subjs"])
    found: dict[str, Any] = function(None, table, general, given)
    return found


def as_dump(data: Mapping[str, Any]) -> str:
    """Data in the form of R's dump, which Stan reads."""
    lines = []
    for name, value in data.items():
        array = np.asarray(value)
        whole = array.dtype.kind in "biu"
        cells = [str(int(x)) if whole else repr(float(x)) for x in array.flatten(order="F")]
        text = ", ".join(cells)
        if array.ndim == 1:
            text = f"c({text})"
        elif array.ndim > 1:
            text = f"structure(c({text}), .Dim = c({', '.join(map(str, array.shape))}))"
        lines.append(f"{name} <- {text}\n")
    return "".join(lines)


def example_of(copy: Path, stem: str, described: Mapping[str, Any]) -> Path:
    """The example file of a model."""
    folder = copy / "commons" / "extdata"
    kind, task = described["model_type"]["code"] or "", described["task_name"]["code"] or "hgf_ibrb"
    own = folder / f"{task}{'_' * bool(kind)}{kind}_exampleData.txt"
    return own if own.exists() else folder / f"{task}_exampleData.txt"


def compared(stem: str, copy: Path, package: Path, folder: Path) -> dict[str, Any]:
    """One model: whether it comes in, and how far its log likelihood is from that of the compiled program."""
    file = copy / "commons" / "models" / f"{stem}.yml"
    described = yaml.safe_load(file.read_text())
    example = example_of(copy, stem, described)
    table = table_of(example).frame
    people = next((name for name in table if name.replace("_", "").lower() == "subjid"), "")
    if not people:
        people, table = "subjID", table.assign(subjID="1")
    row: dict[str, Any] = {"model": stem, "example": example.name}
    try:
        found = imported_likelihood(file, file.read_text(), table, Said(), 10.0)
    except TheoryError as error:
        return row | {"refused": str(error)}
    item = found.likelihood
    row |= {"in": True, "n_parameters": len(item.bounds)}
    plain = pd.read_csv(example, sep="\t")
    plain.columns = [re.sub("_", "", name).lower() for name in plain.columns]
    plain = plain.assign(subjid=table[people].to_numpy())
    first = list(dict.fromkeys(plain["subjid"]))[:N_PEOPLE]
    data = folder / f"{stem}.data"
    data.write_text(as_dump(prepared(copy, described, plain[plain["subjid"].isin(first)])))
    program = compiled(copy / "commons" / "stan_files" / f"{stem}.stan", package, folder)
    named = subprocess.run([program, data, "", "names"], check=True, capture_output=True, text=True)
    scores = np.random.default_rng(SEED).normal(0, 0.5, (N_VECTORS, int(named.stderr)))
    at_scores = data.with_suffix(".scores")
    np.savetxt(at_scores, scores, header=str(N_VECTORS), comments="")
    said = subprocess.run([program, data, at_scores], check=True, capture_output=True, text=True)
    names = named.stdout.split()
    draws = np.array([line.split() for line in said.stdout.splitlines()], dtype=float)
    at = {name: place for place, name in enumerate(names)}
    own = item.people_in(table)
    gaps = []
    with LikelihoodSandbox() as sandbox:
        wanted = [own[name] for name in first]
        with sandbox.open_function(item.called, wanted, limits_of_calls()) as session:
            for person in range(len(first)):
                keys = [
                    next(key for key in (f"{name}.{person + 1}", name) if key in at)
                    for name in described["parameters"]
                ]
                vectors = draws[:, [at[key] for key in keys]]
                order = [as_name(name) for name in described["parameters"]]
                vectors = vectors[:, [order.index(name) for name in item.bounds]]
                mine = item.log_likelihood(session.values(person, vectors))
                key = f"log_lik.{person + 1}" if f"log_lik.{person + 1}" in at else "log_lik"
                theirs = draws[:, at[key]]
                gaps.append(float(np.abs(mine - theirs).max()))
                row["log_likelihood"] = float(theirs[0])
    return row | {"largest_difference": max(gaps)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare models, and write each as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--hbayesdm", type=Path, required=True)
    options.add_argument("--httpstan", type=Path, required=True)
    options.add_argument("--models", nargs="*", default=())
    options.add_argument("--folder", type=Path, default=RESULT.with_suffix(""))
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args(arguments)
    every = sorted(item.stem for item in (chosen.hbayesdm / "commons" / "models").glob("*.yml"))
    chosen.folder.mkdir(parents=True, exist_ok=True)
    rows = json.loads(chosen.out.read_text())["models"] if chosen.out.exists() else []
    kept = {row["model"]: row for row in rows}
    for stem in chosen.models or every:
        if stem not in kept:
            kept[stem] = compared(stem, chosen.hbayesdm, chosen.httpstan, chosen.folder.resolve())
            chosen.out.write_text(
                json.dumps({"models": [*kept.values()], **provenance()}, indent=1) + "\n"
            )
        row = kept[stem]
        print(f"{stem:26s} {row.get('largest_difference', row.get('refused'))}", flush=True)


if __name__ == "__main__":
    main()
