"""The Containerfile names only files, options and commands that there are."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Containerfile with its argument."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [tuple(line.split(maxsplit=1)) for line in lines]  # type: ignore[misc]


def arguments(name: str) -> list[str]:
    return [argument for instruction, argument in instructions() if instruction == name]


def test_it_holds_the_instructions_that_an_image_needs_in_their_order() -> None:
    names = [name for name, _ in instructions()]
    assert names[0] == "FROM"
    assert names[-1] == "CMD"
    assert set(names) <= {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "EXPOSE", "CMD"}
    # What root installs comes before the user; what the user installs comes after the files are there.
    assert names.index("COPY") < names.index("USER") < len(names) - 1 - names[::-1].index("RUN")


def commands() -> list[list[str]]:
    """Words after ``start.py`` in every command of the image."""
    (words,) = (json.loads(argument) for argument in arguments("CMD"))
    assert words[:2] == ["sh", "-c"]
    shell = re.sub(r'"?\$\{[^"]*\}"?', "0123456789abcdef", words[2].replace('\\"', '"'))
    found = []
    for line in (*arguments("RUN"), shell):
        for part in re.split(r"&&|;", line):
            split = shlex.split(part)
            if "start.py" in split:
                found.append(split[split.index("start.py") + 1 :])
    return found


def test_every_command_that_it_names_exists_with_its_options() -> None:
    assert len(commands()) == 3
    for first, *rest in commands():
        command = [first, *rest] if first == "demo" else rest
        assert first in {"demo", "lakatos"}
        if command == ["--version"]:
            continue
        done = subprocess.run(
            [sys.executable, "-m", "lakatos.flows.commands.door", command[0], "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        for option in (word for word in command if word.startswith("--")):
            assert option in done.stdout


def test_files_that_its_commands_need_are_copied() -> None:
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in ("start.py", "requirements.lock", "pyproject.toml", "README.md", "lakatos"):
        assert (ROOT / name).exists()
        assert name not in left_out
    assert ".venv*" in left_out  # made for another place


@pytest.mark.parametrize("command", ["python3", "python3-venv", "ca-certificates"])
def test_it_installs_what_start_py_needs(command: str) -> None:
    assert any(command in argument.split() for argument in arguments("RUN"))


def test_the_port_that_is_opened_is_the_one_that_is_served() -> None:
    (port,) = arguments("EXPOSE")
    assert ["--port", port] == commands()[-1][-4:-2]
