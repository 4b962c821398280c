"""What a hostile theory may try: nothing comes of it, and the next honest theory scores as before.

Each attempt is the body of a function that returns something true if it got what it wanted. Where an attempt does no
harm, it is first made outside the sandbox, to show that it would have worked there.
"""

import fcntl
import json
import mmap
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox import client
from lakatos.theories.engine.sandbox.limits import SandboxLimits
from lakatos.theories.engine.sandbox.shared import make_shared
from lakatos.theories.errors import (
    TheoryError,
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryResourceError,
    TheoryTimeoutError,
)
from lakatos.theories.language.theory import TheoryProgram


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
# walk from a tuple to popen
(popen,) = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen']
return popen(['/bin/true']).wait() == 0
# walk from a tuple to a file loader
loader = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'FileLoader'][0]
return loader('x', MARKER).get_data(MARKER)
# builtins of a frame
return sys._getframe().f_builtins['open'](MARKER).read()
# builtins of a generator
return (x for x in [0]).gi_frame.f_builtins['open'](MARKER).read()
# builtins of a traceback
try:
  1 / 0
except ZeroDivisionError as error:
  return error.__traceback__.tb_frame.f_globals['__builtins__'] and open(MARKER).read()
# globals of a function
return subprocess.run.__globals__['os'].environ.get('LAKATOS_TEST_SECRET')
# format string
return 'LAKATOS_TEST_SECRET' in '{0.__globals__[os].environ}'.format(subprocess.run)
# format map of a class
return 'LAKATOS_TEST_SECRET' in '{p.__init__.__globals__[os].environ}'.format_map({'p': subprocess.Popen})
# compiled text
return eval(compile('open(MARKER).read()', 'x', 'eval'))
# pickle that calls
import pickle
return pickle.loads(b"cposix\\nsystem\\n(S'true'\\ntR.") == 0
# library from a file
return ctypes.CDLL('libresolv.so.2')
# import from a folder
sys.path.insert(0, FOLDER)
import planted
return planted.x
# import hook
import importlib.util
class Hook:
  def find_spec(self, name, path, target=None):
    return importlib.util.spec_from_file_location(name, FOLDER + '/planted.py')
sys.meta_path.insert(0, Hook())
import hooked
return hooked.x
# reload of a module from its file
import importlib, json
return importlib.reload(json)
# append to own program
import lakatos.theories.engine.sandbox.wire as wire
open(wire.__file__, 'ab').close()
return True
# numpy save
np.save(FOLDER + '/new.npy', np.ones(2))
return True
# numpy savez
np.savez(FOLDER + '/new.npz', np.ones(2))
return True
# numpy savetxt
np.savetxt(FOLDER + '/new.txt', np.ones(2))
return True
# numpy tofile
np.ones(2).tofile(FOLDER + '/new.bin')
return True
# numpy genfromtxt
return np.genfromtxt(MARKER, dtype=str).size
# numpy memmap to write
return np.memmap(FOLDER + '/new.map', np.uint8, 'w+', shape=(4096,)).size
# numpy open memmap
return np.lib.format.open_memmap(FOLDER + '/new.npy', 'w+', shape=(2,)).size
# numpy fromregex
return np.fromregex(MARKER, 'held', [('x', 'S4')]).size
# numpy data source
return np.lib.npyio.DataSource(FOLDER).open(MARKER).read()
# names of hosts
return socket.getaddrinfo('localhost', 80)
# netlink
return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
# vsock
return socket.socket(40, socket.SOCK_STREAM)
# raw socket
return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
# epoll
import select
return select.epoll()
# own session
os.setsid()
return True
# own process group
os.setpgid(0, 0)
return True
# descriptor of a process
return os.pidfd_open(os.getpid())
# large file
open(FOLDER + '/large', 'wb').truncate(2**26)
return True
# extended attribute
os.setxattr(MARKER, 'user.lakatos', b'x')
os.removexattr(MARKER, 'user.lakatos')
return True
# working folder
open('left', 'w').close()
os.unlink('left')
return True
# message queue
c = ctypes.CDLL(None)
return c.msgget(4243, 0o1600) >= 0 and c.msgctl(c.msgget(4243, 0), 0, None) == 0
# semaphore
c = ctypes.CDLL(None)
return c.semget(4244, 1, 0o1600) >= 0 and c.semctl(c.semget(4244, 1, 0), 0, 0) == 0
# entropy by python
import random
return random.SystemRandom().random()
# entropy by numpy
return np.random.default_rng().random()
# import from the project
import lakatos.theories.errors
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
# memory map of laboratory
return open(f'/proc/{LABORATORY}/maps').read()
# environment of the first process
return b'LAKATOS_TEST_SECRET' in open('/proc/1/environ', 'rb').read()
# frames with answers
frame = sys._getframe()
while frame:
  for held in (*frame.f_locals.values(), *frame.f_globals.values()):
    if isinstance(held, dict) and 'held_out_marker' in held: return True
  frame = frame.f_back
# name of the caller
frame, names = sys._getframe(), []
while frame:
  names.append(frame.f_code.co_filename)
  frame = frame.f_back
return [name for name in names if any(part in name for part in ('test', 'score', 'laboratory', 'view'))]
# write to site packages
open(os.path.dirname(np.__file__) + '/lakatos_test', 'w')
return True
# write to shared folder in memory
open('/dev/shm/lakatos-test', 'w')
return True
# signal a thread
return ctypes.CDLL(None).syscall(234, LABORATORY, LABORATORY, 0) == 0
# descriptor of laboratory
return os.pidfd_open(LABORATORY)
# program in memory
return ctypes.CDLL(None).syscall(322, -1, b'/bin/true', None, None, 0)  == 0
# another program
os.execv('/bin/true', ['true'])
# pivot root
return ctypes.CDLL(None).syscall(155, b'/', b'/') == 0
# join namespaces
return not os_fails(lambda: ctypes.CDLL(None).setns(0, 0) == 0 or os.open(f'/proc/{LABORATORY}/ns/net', 0))
# keystrokes
return ctypes.CDLL(None).ioctl(0, 0x5412, b'x') == 0
# setuid file
os.chmod(MARKER, 0o4755)
return True
# kernel log
return ctypes.CDLL(None).klogctl(10, None, 0) >= 0
# leftover thread
def later():
  time.sleep(0.05)
  os.write(4, b'x' * 4096)
threading.Thread(target=later).start()
return True
# leftover timer
return ctypes.CDLL(None).setitimer(0, struct.pack('qqqq', 0, 1, 0, 1), None) == 0
# leftover handler
return os_fails(signal.signal, signal.SIGTERM, signal.SIG_IGN) is False
# kernel notifies by a pipe
return ctypes.CDLL(None).fcntl(4, 8, LABORATORY) == 0
# nonblocking answers
os.set_blocking(4, False)
return True
# smaller pipe
return ctypes.CDLL(None).fcntl(4, 1031, 4096) > 0
# recursion in c
sys.setrecursionlimit(2**30)
x = []
for _ in range(10**6): x = [x]
return repr(x) and False
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
ENDS = {"x32 calls": "SIGSYS", "recursion in c": "SIGSEGV"}
"""Attempts that end their process."""
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
        pytest.skip(
            f"this machine lacks {', '.join(sorted(missing))}, without which hostile theories are not run"
        )


@pytest.fixture
def world(tmp_path, monkeypatch):
    """What there is to steal or to damage, as constants for the attempts, and a check that it is whole."""
    monkeypatch.setenv("LAKATOS_TEST_SECRET", "the secret")
    marker = tmp_path / "marker"
    marker.write_text("held out\n")
    marker.chmod(0o644)
    np.save(tmp_path / "pickle.npy", np.array([{"a": 1}]), allow_pickle=True)
    (tmp_path / "planted.py").write_text("x = 1\n")
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
                shutil.rmtree(tmp_path / name) if (tmp_path / name).is_dir() else os.unlink(
                    tmp_path / name
                )
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
            source,
            {"w": np.ones(1)},
            [{"x": np.zeros(3)}],
            lint=False,
            limits=SandboxLimits(**limits),
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
        outside = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
        )
        WORKED_OUTSIDE[name] = b"won" in outside.stdout
    if not WORKED_OUTSIDE[name]:
        pytest.skip("this does not work outside the sandbox either")
    world.restore()
    result = outcome(sandbox, hostile(world, text), memory_bytes=512 * 2**20)
    assert result == 0.25
    assert world.whole()
    assert honest(sandbox)


@pytest.mark.parametrize("name", HARMFUL)
def test_attempt_on_the_machine_fails(sandbox, honest, world, name):
    begun = time.monotonic()
    result = outcome(sandbox, hostile(world, HARMFUL[name]), memory_bytes=512 * 2**20)
    assert time.monotonic() - begun < 15
    if name in ENDS:
        assert isinstance(result, TheoryError)
        assert ENDS[name] in str(result)
    else:
        assert result == 0.25
    assert world.whole()
    assert honest(sandbox)


def test_attempt_that_needs_nothing_succeeds(sandbox, world):
    """Attempts would mean nothing if they failed for want of a module."""
    assert (
        outcome(
            sandbox, hostile(world, "return os.getuid() >= 0 and ctypes.CDLL(None).getuid() >= 0")
        )
        == 1.0
    )


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
def test_misbehaving_process_is_ended_with_its_own_error(
    sandbox, honest, world, text, error, match
):
    start = time.monotonic()
    # The limit is short where it is what ends the process, and out of the way on a busy machine where it is not.
    wall_seconds = 0.6 if error is TheoryTimeoutError else 5.0
    result = outcome(
        sandbox, hostile(world, text), wall_seconds=wall_seconds, memory_bytes=512 * 2**20
    )
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
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.limits import SandboxLimits
sandbox = Sandbox(bwrap={"bwrap" in sandbox.level.layers})
sandbox.level
import threading
source = "def choose(p, t, xp):\\n    while True: pass\\n"
limits = SandboxLimits(wall_seconds=60)
def run(): sandbox.probabilities(source, {{"w": np.ones(1)}}, [{{"x": np.ones(1)}}], limits=limits)
threading.Thread(target=run, daemon=True).start()
import time; time.sleep(1.0)
print(sandbox._zygote._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
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
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(entry) == pid and fields[0] != "Z":
            return True
        if int(fields[1]) in found and fields[0] != "Z":
            return True
    return False


# What follows concerns the memory that a theory's process shares with the laboratory. Arrays are large: they lie there.

MANY = 4000
FIND = """
def serving():
    frame = sys._getframe()
    while frame.f_code.co_name != 'serve':
        frame = frame.f_back
    return frame.f_locals
def address(view):
    return np.frombuffer(view, np.uint8).__array_interface__['data'][0]
def libc():
    c = ctypes.CDLL(None, use_errno=True)
    c.mmap.restype = c.mremap.restype = ctypes.c_void_p
    return c
"""
"""How a theory finds the memory: its caller holds it."""
SHARED = named("""
# writable flag
trials['x'].flags.writeable = True
trials['x'][0] = 9.0
return True
# base of an array
trials['x'].base[:8] = bytes(8)
return True
# view of what is sent
serving()['sent'][:8] = bytes(8)
return True
# memory made writable
c = libc()
start = address(serving()['sent']) & ~4095
return c.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 3) == 0
# pages thrown away
c = libc()
start = trials['x'].__array_interface__['data'][0] & ~4095
return c.madvise(ctypes.c_void_p(start), ctypes.c_size_t(4096), 9) == 0
# pages poisoned
c = libc()
start = address(serving()['sent']) & ~4095
return c.madvise(ctypes.c_void_p(start), ctypes.c_size_t(4096), 100) == 0
# second map of the same pages
c = libc()
start = address(serving()['sent']) & ~4095
second = c.mremap(ctypes.c_void_p(start), ctypes.c_size_t(0), ctypes.c_size_t(4096), 1)
if second in (None, 2**64 - 1): return False
return c.mprotect(ctypes.c_void_p(second), ctypes.c_size_t(4096), 3) == 0
# descriptors of the memory
return [fd for fd in range(5, 300) if not os_fails(os.ftruncate, fd, 0)]
# memory by proc
return os.open('/proc/self/map_files', os.O_RDONLY)
# write by number
ctypes.memmove(trials['x'].__array_interface__['data'][0], bytes(8), 8)
return True
""")
"""Attempts on what the laboratory has sent; each must fail."""


def in_shared_memory(
    world, text, then="return xp.full((len(parameters['w']), len(trials['x'])), 0.25)"
):
    return f"""{world.text}{PRELUDE}{FIND}
def attempt(trials):
{textwrap.indent(text, "    ")}
def choose(parameters, trials, xp):
    try:
        if attempt(trials): return xp.full((len(parameters['w']), len(trials['x'])), 1.0)
    except Exception:
        pass
{textwrap.indent(then, "    ")}
"""


def many(sandbox, source, **limits):
    stimuli = [{"x": np.arange(float(MANY))}]
    return sandbox.open_session(source, stimuli, lint=False, limits=SandboxLimits(**limits))


def shared_of(session):
    shared = session._child._shared
    if shared is None:
        pytest.skip("this system has no memory that can be sealed")
    return shared


@pytest.mark.parametrize("name", SHARED)
def test_what_the_laboratory_sends_cannot_be_changed(sandbox, honest, world, name):
    with many(sandbox, in_shared_memory(world, SHARED[name]), memory_bytes=512 * 2**20) as session:
        shared = shared_of(session)
        sent = bytes(shared._sent[: 8 * MANY])
        assert sent == np.arange(float(MANY)).tobytes()
        if name == "write by number":
            with pytest.raises(TheoryResourceError, match="SIGSEGV"):
                session.probabilities({"w": np.ones(2)})
        else:
            (answer,) = session.probabilities({"w": np.ones(2)})
            assert (answer[..., 1] == 0.25).all()
        assert bytes(shared._sent[: 8 * MANY]) == sent
    assert honest(sandbox)


DAMAGE = named("""
# other memory in place of what is sent
c = libc()
start = address(serving()['sent']) & ~4095
c.mmap(ctypes.c_void_p(start), ctypes.c_size_t(4096), 3, 0x32, -1, 0)
# what is sent unmapped
c = libc()
c.munmap(ctypes.c_void_p(address(serving()['sent']) & ~4095), ctypes.c_size_t(2**20))
# room for answers unmapped
libc().munmap(ctypes.c_void_p(address(serving()['room'])), ctypes.c_size_t(2**20))
# room for answers without pages
libc().madvise(ctypes.c_void_p(address(serving()['room'])), ctypes.c_size_t(2**20), 9)
# beyond the end of the room
room = serving()['room']
c = libc()
longer = c.mremap(ctypes.c_void_p(address(room)), ctypes.c_size_t(len(room)), ctypes.c_size_t(len(room) + 2**20), 1)
ctypes.memset(longer + len(room) + 4096, 1, 1)
# all of the room filled
room = serving()['room']
ctypes.memset(address(room), 255, len(room))
# whole address space mapped
c = libc()
while c.mmap(None, ctypes.c_size_t(2**26), 3, 0x22, -1, 0) != 2**64 - 1: pass
""")
"""Attempts that may end their own process and must touch nothing else."""


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_to_shared_memory_stays_with_its_process(sandbox, honest, world, name):
    begun = time.monotonic()
    with many(sandbox, in_shared_memory(world, DAMAGE[name]), memory_bytes=256 * 2**20) as session:
        shared = shared_of(session)
        try:
            (answer,) = session.probabilities({"w": np.ones(2)})
            assert (answer[..., 1] == 0.25).all()
        except TheoryError:
            pass
        assert bytes(shared._sent[: 8 * MANY]) == np.arange(float(MANY)).tobytes()
        assert len(shared._answers) == shared.answer_bytes
        assert (
            len(shared._answers[-8:]) == 8
        )  # would end this process if the memory had been cut short
    assert time.monotonic() - begun < 15
    assert honest(sandbox)


EARLY = """room = np.frombuffer(serving()['room'], float, MANY * 2 * 2).reshape(2, MANY, 2)
room[...] = 0.5
os.write(4, header(2, room.nbytes) + b'{}')
until = time.monotonic() + 0.5
while time.monotonic() < until:
    for value in (np.nan, 7.0, -1.0, 0.5):
        room[...] = value
room[...] = 0.5
time.sleep(60)
""".replace("MANY", str(MANY))


def test_answer_given_early_cannot_be_changed_afterwards(sandbox, honest, world):
    """The process says it is done, and goes on writing while its answer is read and looked at."""
    for _ in range(3):
        with many(sandbox, in_shared_memory(world, EARLY), wall_seconds=5.0) as session:
            shared_of(session)
            try:
                (answer,) = session.probabilities({"w": np.ones(2)})
            except TheoryProbabilityError:
                continue
            assert (answer == 0.5).all()  # the only probabilities that were ever there
            time.sleep(0.05)
            assert (answer == 0.5).all()
            # Its process ended with the walk, or is still busy writing: there is no second answer either way.
            with pytest.raises((TheoryTimeoutError, TheoryResourceError)):
                session._ask({"parameters": []}, b"", [])
    assert honest(sandbox)


@pytest.mark.parametrize(
    ("told", "payload"),
    [
        ('{"second": [true]}', 16 * MANY),
        ('{"second": [false]}', 8 * MANY),
        ('{"second": [true, true]}', 8 * MANY),
        ('{"second": []}', 0),
        ('{"second": [1]}', 8 * MANY),
        ('{"second": [true], "second": [false]}', 8 * MANY),
        ("{}", 2**63),
        ("{}", 8 * MANY),
        ("{}", 0),
    ],
)
def test_lie_about_the_length_of_an_answer_is_no_answer(sandbox, honest, world, told, payload):
    text = f"os.write(4, header({len(told)}, {payload}) + {told.encode()!r})\ntime.sleep(60)"
    with many(sandbox, in_shared_memory(world, text), wall_seconds=5.0) as session:
        shared_of(session)
        with pytest.raises(TheoryResourceError, match="expected form"):
            session.probabilities({"w": np.ones(1)})
    assert honest(sandbox)


def test_what_is_left_of_an_earlier_answer_is_not_taken_for_a_new_one(sandbox, world):
    text = f"""if parameters_left.pop():
    os.write(4, header(2, {16 * MANY}) + b'{{}}')
    time.sleep(60)"""
    source = "parameters_left = [True, False]\n" + in_shared_memory(world, text)
    with many(sandbox, source, wall_seconds=5.0) as session:
        shared_of(session)
        (before,) = session.probabilities({"w": np.ones(1)})
        assert (before[..., 1] == 0.25).all()
        with pytest.raises(TheoryProbabilityError):  # the half answer before it is not a whole one
            session.probabilities({"w": np.ones(1)})


def test_seals_hold_for_whoever_has_the_descriptors():
    shared = make_shared(10**6, 10**6)
    if shared is None:
        pytest.skip("this system has no memory that can be sealed")
    sending, answering = shared.descriptors
    mmap.mmap(answering, 0).close()
    for attempt in (
        lambda: mmap.mmap(sending, 0),
        lambda: os.pwrite(sending, b"x", 0),
        lambda: os.ftruncate(sending, 0),
        lambda: os.ftruncate(answering, 0),
        lambda: os.ftruncate(answering, 2**30),
        lambda: fcntl.fcntl(answering, fcntl.F_ADD_SEALS, 0x10),
    ):
        with pytest.raises(PermissionError):
            attempt()
    assert shared.send(b"x" * 10**5)
    shared.close_descriptors()


SCAN = """
import ctypes, gc, os, sys
import numpy as np
c = ctypes.CDLL(None, use_errno=True)
FUTEX = NUMBER
AT_ONCE = ctypes.create_string_buffer(16)
LOW, HIGH = 7_000_000.0, 7_000_100.0
PAGE, REACH = 4096, 8 * 2**20
found = []
def readable(page):
    c.syscall(FUTEX, ctypes.c_void_p(page), 128, 1, AT_ONCE, None, 0)
    return ctypes.get_errno() != 14
def look(values):
    found.extend(values[(values > LOW) & (values < HIGH)] - LOW)
def frames():
    frame = sys._getframe()
    while frame:
        yield from frame.f_locals.values()
        frame = frame.f_back
def scan(places):
    del found[:]
    for thing in [*gc.get_objects(), *frames()]:
        values = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else [thing]
        for value in list(values):
            if isinstance(value, np.ndarray) and value.dtype == float:
                look(value.ravel())
            elif isinstance(value, memoryview) and value.nbytes:
                look(np.frombuffer(value[: 2**22 // 8 * 8], float) if value.nbytes % 8 == 0 else np.zeros(1))
    for place in places:
        for page in range(max(place - REACH, PAGE) // PAGE * PAGE, place + REACH, PAGE):
            if readable(page):
                look(np.frombuffer((ctypes.c_char * PAGE).from_address(page), float))
def start(parameters, trials, xp):
    return {"step": 0}
def choose(parameters, trials, xp, state):
    frame = sys._getframe()
    while frame.f_code.co_name != 'serve':
        frame = frame.f_back
    held = [frame.f_locals[name] for name in ('sent', 'room', 'payload')]
    places = [np.frombuffer(view, np.uint8).__array_interface__['data'][0] for view in held if len(view)]
    scan([*places, id(object()), trials['x'].__array_interface__['data'][0]])
    step = state["step"]
    future = [value for value in found if value >= step + 0.5]
    past = [value for value in found if value < step + 0.5]
    p = 1.0 if future else 0.75 if past else 0.25
    return xp.full((len(parameters['w']), len(trials['x'])), p)
def learn(parameters, trials, xp, state, response, feedback):
    return {"step": state["step"] + 1}
""".replace("NUMBER", "98" if platform.machine() == "aarch64" else "202")


@pytest.mark.parametrize("n_people", [2, 3000])
def test_answers_that_are_not_predicted_yet_are_nowhere_in_the_process(sandbox, honest, n_people):
    """Each step's feedback is a number of its own. The theory looks for them everywhere in its memory, and finds those
    that it has been told, so that it would find the others if they were there."""
    domain, n_steps = MultiattributeDomain(), 3
    stimuli = domain.space({"validities": [0.9, 0.6], "levels": [0, 1], "dominated": True}).take(
        [0, 1]
    )
    stimuli = Stimuli({**stimuli.arrays, "x": np.ones(2)})
    step = np.tile(np.arange(n_steps), n_people)
    trials = Trials(
        experiment="planted",
        stimuli=stimuli,
        participant=np.repeat(np.arange(n_people), n_steps),
        trial=step % 2,
        response=step % 2,
        count=np.ones(len(step), dtype=int),
        feedback={"reward": 7_000_000.0 + step + 1},
    )
    with sandbox.open_session(
        SCAN, [], lint=False, limits=SandboxLimits(wall_seconds=60, cpu_seconds=60)
    ) as session:
        found = follow(session, domain, {"w": np.ones(1)}, trials)
    assert np.array_equal(found.own[:, :, 1], np.tile([0.25, 0.75, 0.75], (n_people, 1)))
    assert honest(sandbox)


TIME_AND_CHANCE = named("""
# clock
import time
def number(): return time.perf_counter_ns() % 1000 / 1000
# processor time
import time
def number(): return time.process_time_ns() // 100 % 1000 / 1000
# calls counted
calls = []
def number():
    calls.append(1)
    return len(calls) % 100 / 100
# calls counted in numpy
import numpy as np
def number():
    np.calls = getattr(np, 'calls', 0) + 1
    return np.calls % 100 / 100
# random module
import random
def number(): return random.random()
# generator kept between calls
import numpy as np
rng = np.random.default_rng(3)
def number(): return rng.random()
# address of an array
import numpy as np
kept = []
def number():
    kept.append(np.ones(100))
    return kept[-1].__array_interface__['data'][0] // 16 % 97 / 97
""")
"""Where a theory may find numbers that differ from call to call."""


@pytest.mark.parametrize("name", TIME_AND_CHANCE)
def test_theory_that_answers_by_time_chance_or_earlier_calls_is_refused(
    sandbox, honest, monkeypatch, name
):
    source = f'"""Chance: people differ from moment to moment."""\nPARAMETERS = {{}}\n{TIME_AND_CHANCE[name]}\n'
    source += "def choose(parameters, trials, xp):\n    return xp.full((1, len(trials['ratings'])), number())\n"
    monkeypatch.setattr(client, "check_source", lambda *_: None)
    refusals = (TheoryProbabilityError, TheoryRaisedError)  # there is no clock in the sandbox
    with pytest.raises(refusals, match=r"differ|asked twice|order of the trials|not permitted"):
        load_theory(TheoryProgram(source, "hostile"), MultiattributeDomain(), sandbox)
    assert honest(sandbox)


def test_generators_of_numpy_start_alike_in_every_call_and_process(sandbox):
    source = "def choose(p, trials, xp): return xp.full(3, xp.random.random())"
    once = [sandbox.probabilities(source, {}, [{"x": np.zeros(3)}])[0] for _ in range(2)]
    assert np.array_equal(*once)


def test_there_are_at_least_sixty_distinct_attempts():
    own = [
        *HARMLESS.values(),
        *HARMFUL.values(),
        *SHARED.values(),
        *DAMAGE.values(),
        *TIME_AND_CHANCE.values(),
        EARLY,
    ]
    assert len(set(own)) == len(own)
    assert len(own) >= 60


def test_layers_of_this_machine_are_all_named(sandbox):
    layers = sandbox.level.layers
    assert "rlimits" in layers
    assert len(set(layers)) == len(layers)
    assert json.loads(json.dumps(layers)) == list(layers)
