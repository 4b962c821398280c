"""What a hostile theory may try: nothing comes of it, and the next honest theory scores as before.

Each attempt is the body of a function that returns something true if it got what it wanted. Where an attempt does no
harm, it is first made outside the sandbox, to show that it would have worked there.
"""

import json
import os
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from theories.errors import TheoryError, TheoryProbabilityError, TheoryResourceError, TheoryTimeoutError
from theories.sandbox.client import Limits


def named(text):
    """Pieces of code by the comment above each."""
    pieces = re.split(r"^# (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


HARMLESS = named("""
# read password file
return open('/etc/passwd').read()
# read marker
return open(MARKER).read()
# read marker relative to root
return os.open(MARKER.lstrip('/'), os.O_RDONLY, dir_fd=os.open('/', os.O_PATH))
# read own program
return open(sys.executable, 'rb').read(4)
# list root
return os.listdir('/')
# stat marker
return os.stat(MARKER).st_size
# chdir
os.chdir('/')
return os.getcwd() == '/'
# numpy fromfile
return len(np.fromfile(MARKER, np.uint8))
# numpy memmap
return len(np.memmap(MARKER, np.uint8, 'r'))
# numpy loadtxt
return np.loadtxt(MARKER, dtype=str).size
# numpy load pickle
return np.load(PICKLE, allow_pickle=True) is not None
# environment
return os.environ.get('LAKATOS_TEST_SECRET')
# environment by c
c = ctypes.CDLL(None)
c.getenv.restype = ctypes.c_char_p
return c.getenv(b'LAKATOS_TEST_SECRET')
# environment by proc
return b'LAKATOS_TEST_SECRET' in open('/proc/self/environ', 'rb').read()
# environment of laboratory
return open(f'/proc/{LABORATORY}/environ', 'rb').read()
# memory map
return open('/proc/self/maps').read()
# write marker
open(MARKER, 'a').write('x')
return True
# write new file
open(FOLDER + '/new', 'w').write('x')
return True
# write tmp
tempfile.mkstemp(dir=FOLDER)
return True
# truncate
os.truncate(MARKER, 0)
return True
# rename
os.rename(MARKER, FOLDER + '/moved')
os.rename(FOLDER + '/moved', MARKER)
return True
# symlink
os.symlink(MARKER, FOLDER + '/link')
return True
# hard link
os.link(MARKER, FOLDER + '/hard')
return True
# fifo
os.mkfifo(FOLDER + '/fifo')
return True
# chmod
os.chmod(MARKER, 0o600)
return True
# shared memory
c = ctypes.CDLL(None)
return c.shmget(4242, 4096, 0o1600) >= 0 and c.shmctl(c.shmget(4242, 4096, 0o600), 0, None) == 0
# memfd
return os.memfd_create('x') > 0
# tcp
return socket.create_connection(('127.0.0.1', PORT), 2)
# udp
return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))
# tcp by c
return ctypes.CDLL(None).socket(2, 1, 0) >= 0
# unix socket
s = socket.socket(socket.AF_UNIX)
s.connect(SERVICE)
return True
# abstract socket
s = socket.socket(socket.AF_UNIX)
s.bind('\\0lakatos-test')
return True
# socket pair
return socket.socketpair()
# subprocess
return subprocess.run(['/bin/echo', 'hello'], capture_output=True).stdout
# system
return os.system('true') == 0
# system by c
return ctypes.CDLL(None).system(b'true') == 0
# posix spawn
return os.posix_spawn('/bin/true', ['true'], {})
# fork
pid = os.fork()
if pid == 0: os._exit(0)
return pid
# fork by c
c = ctypes.CDLL(None)
pid = c.fork()
if pid == 0: os._exit(0)
return pid > 0
# threads
t = threading.Thread(target=print)
t.start()
return True
# open many files
return [os.dup(1) for _ in range(200)]
# pipe
return os.pipe()
# signal handler
signal.signal(signal.SIGTERM, signal.SIG_IGN)
return True
# alarm
signal.alarm(1000)
return 0 < signal.alarm(0) <= 1000
# executable memory
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
return c.mmap(None, 4096, 7, 0x22, -1, 0) != 2**64 - 1
# protect as executable
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
return c.mprotect(ctypes.c_void_p(c.mmap(None, 4096, 3, 0x22, -1, 0)), 4096, 7) == 0
# raise limits
resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
return True
# ptrace self
return ctypes.CDLL(None).ptrace(0, 0, None, None) == 0
# entropy
return os.urandom(8)
# be dumpable
return ctypes.CDLL(None).prctl(4, 1, 0, 0, 0) == 0
# import from the project
import theories.errors
return True
# import from site packages
import scipy.stats
return True
""")
HARMFUL = named("""
# read marker of root
return open('/root/.bashrc').read()
# read laboratory memory
return open(f'/proc/{LABORATORY}/mem', 'rb')
# process vm readv
b = ctypes.create_string_buffer(64)
v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 64)
return ctypes.CDLL(None).process_vm_readv(LABORATORY, v, 1, v, 1, 0) > 0
# signal laboratory
os.kill(LABORATORY, 0)
return True
# kill laboratory
os.kill(LABORATORY, signal.SIGKILL)
return True
# kill parent
os.kill(os.getppid(), signal.SIGKILL)
return True
# stop zygote by c
c = ctypes.CDLL(None)
return c.kill(c.getppid(), 19) == 0 and c.getppid() > 0
# kill everything
os.kill(-1, signal.SIGKILL)
return True
# kill group
os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
return True
# ptrace laboratory
return ctypes.CDLL(None).ptrace(16, LABORATORY, None, None) == 0
# fork bomb
n = 0
while n < 50:
  if os.fork() == 0: time.sleep(60)
  n += 1
return True
# many threads
[threading.Thread(target=time.sleep, args=(60,), daemon=True).start() for _ in range(500)]
return True
# bigger address space
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
return True
# bigger address space by c
v = (ctypes.c_ulong * 2)(2**63, 2**63)
return ctypes.CDLL(None).prlimit(0, 9, v, None) == 0
# priority
os.nice(-5)
return True
# scheduler
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
return True
# set clock
time.clock_settime(time.CLOCK_REALTIME, time.time())
return True
# become root
os.setuid(0)
return True
# user namespace
return ctypes.CDLL(None).unshare(0x10000000) == 0
# mount namespace
c = ctypes.CDLL(None)
return c.unshare(0x00020000) == 0 or c.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0
# chroot
os.chroot('/')
return True
# mknod
os.mknod(FOLDER + '/node', 0o20666, os.makedev(1, 3))
return True
# host name
socket.sethostname('x')
return True
# io uring
return ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(256)) >= 0
# bpf
return ctypes.CDLL(None).syscall(321, 0, ctypes.create_string_buffer(128), 128) >= 0
# perf events
return ctypes.CDLL(None).syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0
# user faults
return ctypes.CDLL(None).syscall(323, 0) >= 0
# keyring
return ctypes.CDLL(None).syscall(248, b'user', b'lakatos', b'x', 1, -2) >= 0
# x32 calls
return ctypes.CDLL(None).syscall(0x40000000 | 39) > 0
# inherited descriptors
return [fd for fd in [*range(5, 300)] if not os_fails(os.fstat, fd)]
# control socket
return not os_fails(os.write, 0, b'') and socket.socket(fileno=0).send(b'reap')
# planted memory
return any(isinstance(o, dict) and 'held_out_marker' in o for o in gc.get_objects())
# laboratory modules
return [m for m in sys.modules if m.startswith(('judges', 'flows', 'traces', 'experiments', 'pytest'))]
# arguments
return [a for a in sys.argv if 'pytest' in a]
# big mapping
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
return c.mmap(None, ctypes.c_size_t(8 * 2**30), 3, 0x4022, -1, 0) != 2**64 - 1
# big array
return np.ones(2**29).sum()
# growing list
x = []
while True: x.append(bytes(2**20))
""")
PRELUDE = """
import ctypes, gc, os, resource, signal, socket, struct, subprocess, sys, tempfile, threading, time
import numpy as np
def header(json_bytes, payload_bytes):
    return struct.pack('<4sB3xIQ', b'LKS1', 0, json_bytes, payload_bytes)
def os_fails(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return True
"""
"""These modules are loaded in the sandbox: what an attempt needs is there, and it fails for its deed."""


def attempt(text):
    return "def attempt():\n" + textwrap.indent(text, "    ") + "\n"


class Service(threading.Thread):
    """Counts who connects to a listening socket."""

    def __init__(self, listener):
        super().__init__(daemon=True)
        self.listener, self.visits = listener, 0
        listener.listen()
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.visits += 1
            connection.close()


@pytest.fixture(autouse=True)
def fully_protected(sandbox):
    """Some attempts would do harm where a layer is missing."""
    missing = {"seccomp", "landlock", "no_capabilities"} - set(sandbox.level.layers)
    if missing:
        pytest.skip(f"this machine lacks {', '.join(sorted(missing))}, without which hostile theories are not run")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """What there is to steal or to damage, as constants for the attempts, and a check that it is whole."""
    monkeypatch.setenv("LAKATOS_TEST_SECRET", "the secret")
    marker = tmp_path / "marker"
    marker.write_text("held out\n")
    marker.chmod(0o644)
    np.save(tmp_path / "pickle.npy", np.array([{"a": 1}]), allow_pickle=True)
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    folder = tmp_path / "s"
    folder.mkdir()
    unix.bind(str(folder / "u"))
    services = [Service(tcp), Service(unix)]
    constants = {
        "MARKER": str(marker),
        "FOLDER": str(tmp_path),
        "PICKLE": str(tmp_path / "pickle.npy"),
        "PORT": tcp.getsockname()[1],
        "SERVICE": str(folder / "u"),
        "LABORATORY": os.getpid(),
    }
    listed = sorted(os.listdir(tmp_path))

    class World:
        text = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
        held_out = ({"held_out_marker": 1},)

        @staticmethod
        def restore():
            for name in set(os.listdir(tmp_path)) - set(listed):
                os.unlink(tmp_path / name)
            marker.write_text("held out\n")
            for service in services:
                service.visits = 0

        @staticmethod
        def whole():
            return (
                sorted(os.listdir(tmp_path)) == listed
                and marker.read_text() == "held out\n"
                and not any(service.visits for service in services)
            )

    yield World
    tcp.close()
    unix.close()


def hostile(world, text):
    """A theory that answers 1 if its attempt succeeded and 1/4 if it was refused."""
    return f"""{world.text}{PRELUDE}
{attempt(text)}
def choose(parameters, trials, xp):
    try:
        won = bool(attempt())
    except BaseException as error:
        won = False
    return parameters["w"] * 0 + xp.full(len(trials["x"]), 1.0 if won else 0.25)
"""


def outcome(sandbox, source, **limits):
    try:
        (answer,) = sandbox.probabilities(
            source, {"w": np.ones(1)}, [{"x": np.zeros(3)}], lint=False, limits=Limits(**limits)
        )
    except TheoryError as error:
        return error
    return float(answer[0, 0, 1])


WORKED_OUTSIDE = {}
"""Tried once, whatever the number of levels."""


@pytest.mark.parametrize("name", HARMLESS)
def test_attempt_that_works_outside_fails_inside(sandbox, honest, world, name):
    text = HARMLESS[name]
    if name not in WORKED_OUTSIDE:
        program = f"{world.text}{PRELUDE}{attempt(text)}print('won' if attempt() else 'lost')"
        outside = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
        WORKED_OUTSIDE[name] = b"won" in outside.stdout
    if not WORKED_OUTSIDE[name]:
        pytest.skip("this does not work outside the sandbox either")
    world.restore()
    result = outcome(sandbox, hostile(world, text), memory_bytes=512 * 2**20)
    assert result == 0.25 or isinstance(result, TheoryError)
    assert world.whole()
    assert honest(sandbox)


@pytest.mark.parametrize("name", HARMFUL)
def test_attempt_on_the_machine_fails(sandbox, honest, world, name):
    result = outcome(sandbox, hostile(world, HARMFUL[name]), memory_bytes=512 * 2**20)
    assert result == 0.25 or isinstance(result, TheoryError)
    assert world.whole()
    assert honest(sandbox)


def test_attempt_that_needs_nothing_succeeds(sandbox, world):
    """Attempts would mean nothing if they failed for want of a module."""
    assert outcome(sandbox, hostile(world, "return os.getpid() > 0 and ctypes.CDLL(None).getpid() > 0")) == 1.0


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("while True:\n  try: time.sleep(1)\n  except BaseException: pass", TheoryTimeoutError, "took longer"),
        ("np.linalg.svd(np.random.default_rng(0).normal(size=(2500, 2500)))", TheoryTimeoutError, "took longer"),
        ("int('9' * 4000) ** 100000", TheoryTimeoutError, "took longer"),
        ("import re\nre.match('(a+)+$', 'a' * 60 + 'b')", TheoryTimeoutError, "took longer"),
        ("while True: os.write(1, b'flood' * 1000)", TheoryTimeoutError, "took longer"),
        ("os.read(3, 1)", TheoryTimeoutError, "took longer"),
        ("os._exit(0)", TheoryResourceError, "ended with exit code 0"),
        ("ctypes.string_at(0)", TheoryResourceError, "SIGSEGV"),
        ("os.abort()", TheoryResourceError, "ended by SIG"),
        ("os.close(4)", TheoryResourceError, "stopped before it answered"),
        ("while True: os.write(4, b'flood' * 1000)", TheoryResourceError, "no answer of the expected form"),
        ("os.write(4, b'half')\nos._exit(0)", TheoryResourceError, "ended with exit code 0"),
        ("os.write(4, header(2, 2**40))", TheoryResourceError, "expected form"),
        ("os.write(4, header(2**31, 48))", TheoryResourceError, "expected form"),
        ("os.write(4, header(60000, 48) + b'[' * 60000)", TheoryResourceError, "expected form"),
        ("os.write(4, header(2, 48) + b'[]')", TheoryResourceError, "expected form"),
        ("os.write(4, header(2, 48) + b'{}' + b'\\xff' * 48)", TheoryProbabilityError, "nan"),
        ("import pickle\nos.write(4, pickle.dumps(print) * 9)", TheoryResourceError, "expected form"),
    ],
)  # fmt: skip
def test_misbehaving_process_is_ended_with_its_own_error(sandbox, honest, world, text, error, match):
    start = time.monotonic()
    result = outcome(sandbox, hostile(world, text), wall_seconds=0.6, memory_bytes=512 * 2**20)
    assert isinstance(result, error)
    assert match in str(result)
    assert time.monotonic() - start < 10
    assert honest(sandbox)


def test_answer_written_ahead_of_the_question_ends_the_session(sandbox):
    source = "import os\ndef choose(parameters, trials, xp):\n    return xp.full(3, 0.5)\nos.write(4, b'x' * 20)\n"
    with pytest.raises(TheoryResourceError, match="expected form"):
        sandbox.open_session(source, [{"x": np.zeros(3)}], lint=False)


def test_patches_of_numpy_and_python_end_with_their_process(sandbox, honest, world):
    text = """np.exp = np.exp2 = lambda *_: 0.0
np.random.seed = np.allclose = np.errstate = None
import builtins, json
json.dumps = json.loads = None
builtins.len = lambda _: 1
np.ndarray = list
sys.modules['numpy'] = None"""
    outcome(sandbox, hostile(world, text))
    assert honest(sandbox)


def test_two_theories_share_nothing(sandbox, world):
    first = hostile(world, "np.lakatos_left = 1\nos.environ['LEFT'] = '1'\nreturn True")
    second = hostile(world, "return getattr(np, 'lakatos_left', 0) or os.environ.get('LEFT')")
    with sandbox.open_session(first, [{"x": np.zeros(3)}], lint=False) as session:
        assert session.probabilities({"w": np.ones(1)})[0][0, 0, 1] == 1.0
        assert outcome(sandbox, second) == 0.25


def test_children_end_with_their_zygote(sandbox, world):
    """A laboratory that is killed leaves nothing running."""
    program = f"""
import os, sys
sys.path.insert(0, {os.getcwd()!r})
import numpy as np
from theories.sandbox.client import Sandbox, Limits
sandbox = Sandbox(bwrap={"bwrap" in sandbox.level.layers})
sandbox.level
import threading
source = "def choose(p, t, xp):\\n    while True: pass\\n"
def run(): sandbox.probabilities(source, {{"w": np.ones(1)}}, [{{"x": np.ones(1)}}], limits=Limits(wall_seconds=60))
threading.Thread(target=run, daemon=True).start()
import time; time.sleep(1.0)
print(sandbox._zygote._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    session = int(told.stdout)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and alive_below(session):
        time.sleep(0.05)
    assert not alive_below(session)


def alive_below(pid):
    """Whether a process or a child of it still runs."""
    found = {pid}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(entry) == pid and fields[0] != "Z":
            return True
        if int(fields[1]) in found and fields[0] != "Z":
            return True
    return False


def test_layers_of_this_machine_are_all_named(sandbox):
    layers = sandbox.level.layers
    assert "rlimits" in layers
    assert len(set(layers)) == len(layers)
    assert json.loads(json.dumps(layers)) == list(layers)
