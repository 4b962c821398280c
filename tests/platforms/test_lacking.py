"""Lakatos in processes that lack what Windows or macOS lack; see `lacking/sitecustomize.py`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.language.family import own_texts

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = ("windows", "macos")
FOREIGN = '''"""Mine: people choose at random."""
PARAMETERS = {"x": {"prior": "uniform", "low": 0.0, "high": 1.0, "meaning": "nothing"}}


def choose(parameters, trials, xp):
    return 0.5 + 0 * parameters["x"]
'''


def on(
    system: str, folder: Path, *words: str, code: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """A command, or code, as if this were ``system``; an empty name is this system as it is."""
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "LAKATOS_HOME": str(folder / "home"),
        "LAKATOS_TEST_WITHOUT": system,
        "PYTHONPATH": str(ROOT / "tests" / "platforms" / "lacking"),
    }
    if system == "windows":  # a console and files that know few letters
        environment |= {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
        environment["PYTHONCOERCECLOCALE"] = "0"
    asked = ["-c", code] if code else ["-m", "lakatos.flows.commands.door", *words]
    return subprocess.run(
        [sys.executable, *asked], cwd=folder, env=environment, capture_output=True, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with responses as a spreadsheet of Windows saves them: CRLF, and a name in cp1252."""
    place = tmp_path_factory.mktemp("a folder é")
    rows = ["participant,sooner_amount,sooner_days,later_amount,later_days,chose_later,note"]
    for number in range(96):
        sooner, days = 10 + 7 * (number * 5 % 6), 5 + 17 * (number * 7 % 11)
        later = sooner + 4 + 5 * (number * 3 % 7)
        chosen = int(later / (1 + 0.02 * days) + (number % 5) - 2 > sooner)
        rows.append(f"Zoë{number // 16},{sooner},0,{later},{days},{chosen},ok")
    (place / "delay.csv").write_bytes("\r\n".join(rows).encode("cp1252") + b"\r\n")
    (place / "foreign.py").write_text(FOREIGN, encoding="utf-8")
    return place


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.slow
def test_the_package_and_everything_in_it_is_imported(system: str, folder: Path) -> None:
    done = on(
        system,
        folder,
        code="import os, sys, lakatos\n"
        f"assert hasattr(os, 'fork') == ({system!r} == 'macos'), 'nothing was taken away'\n"
        "from lakatos.traces.system import can_isolate\n"
        "assert not can_isolate()\n"
        "for name in lakatos.__all__: getattr(lakatos, name)\n"
        "import lakatos.flows.commands.main\n"
        "print(len(lakatos.__all__))",
    )
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 20


def test_the_texts_of_published_theories_are_known_and_changed_ones_are_not() -> None:
    for name, family in FAMILIES.items():
        is_own = own_texts(DOMAINS[name])
        for theory in family.seeds:
            source = family.program(theory).source
            assert is_own(source), f"{name}: {theory}"
        assert not is_own(f"{source}\nimport os\n")
        assert not is_own(source.replace("def choose", "import os\ndef choose", 1))
        assert not is_own(source.replace("    return", "    pass; return", 1))
        assert not is_own(source.replace("\nCLAUSES = ", "\nimport os; CLAUSES = ", 1))
        assert not is_own(source.replace("\nCLAUSES = [", "\nCLAUSES = [exit()] + [", 1))
        assert not is_own(re.sub(r"\n\n\ndef ", "; import os\n\n\ndef ", source, count=1))
        assert not is_own(FOREIGN)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_file_is_described_and_scored_with_the_same_numbers_as_here(
    system: str, folder: Path
) -> None:
    described = on(system, folder, "data", "describe", "delay.csv")
    assert described.returncode == 0, described.stderr.decode()
    assert b"intertemporal" in described.stdout
    words = ("theory", "score", "delay.csv", "hyperbolic", "exponential")
    there, here = on(system, folder, *words), on("", folder, *words)
    assert there.returncode == 0, there.stderr.decode()
    assert there.stdout.splitlines()[-3:] == here.stdout.splitlines()[-3:]


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_theory_of_unknown_origin_is_refused_in_one_sentence(system: str, folder: Path) -> None:
    done = on(system, folder, "theory", "score", "delay.csv", "foreign.py")
    assert done.returncode == 2
    message = done.stderr.decode("cp1252").strip().splitlines()[-1]
    assert "runs only in the sandbox, which needs Linux" in message
    checked = on(system, folder, "theory", "check", "foreign.py", "--domain", "intertemporal")
    assert checked.returncode == 1
    assert b"FAILED  probabilities  a theory that the package did not write" in checked.stdout


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_file_is_explained_and_the_run_passes_its_audit(
    system: str, folder: Path, tmp_path: Path
) -> None:
    if system == "windows":
        # Python on Windows reads names of folders as Unicode. In the locale that stands for its consoles, Python on
        # Linux reads them as ASCII, and no text holds the bytes of others.
        folder = Path(shutil.copytree(folder, tmp_path / "a folder"))
    runs = f"runs-{system}"
    found = on(system, folder, "explain", "delay.csv", "--cycles", "1", "--runs", runs)
    assert found.returncode == 0, found.stderr.decode()
    (run,) = [path for path in (folder / runs).iterdir() if (path / "journal.sqlite").exists()]
    for where in (system, ""):
        audited = on(where, folder, "audit", str(run), "--recompute", "none")
        assert audited.returncode == 0, audited.stdout.decode() + audited.stderr.decode()
