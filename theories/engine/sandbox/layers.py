"""The rights that a process gives up before it runs a theory: standard library and ctypes only.

A layer that the kernel or the machine refuses is left out and reported; whoever needs it says so with
``Sandbox(require=...)``. No file can be opened afterwards, so everything a theory needs is loaded before.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import platform
import re
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial

from lakatos.theories.engine.sandbox.limits import MOST_THREADS, NO_EXECUTABLE_MEMORY, THREAD_LIMIT

# fmt: off
SYSTEM_CALLS: dict[str, tuple[int, tuple[int, ...]]] = {
    # audit architecture, and the numbers of: read write close fstat lseek mmap mprotect munmap brk
    # rt_sigreturn readv writev sched_yield mremap madvise exit exit_group getuid getgid geteuid
    # getegid futex restart_syscall membarrier rseq
    "x86_64": (0xC000003E, (0, 1, 3, 5, 8, 9, 10, 11, 12, 15, 19, 20, 24, 25, 28, 60, 231, 102, 104, 107, 108,
                            202, 219, 324, 334)),
    # never run on such a machine
    "aarch64": (0xC00000B7, (63, 64, 57, 80, 62, 222, 226, 215, 214, 139, 65, 66, 124, 216, 233, 93, 94, 174, 176,
                             175, 177, 98, 128, 283, 293)),
}
# fmt: on
"""System calls that NumPy needs once it is loaded. All others fail with EPERM: nothing opens, connects, forks,
executes, signals, traces, changes limits or handlers, asks for entropy, the time, or its own number."""
THREAD_CALLS = {
    "x86_64": (14, 131, 273, 318, 232, 233, 281, 290, 291, 35, 39, 96, 186, 201, 204, 229, 98, 100),
    "aarch64": (135, 132, 99, 278, 22, 21, 22, 19, 20, 101, 172, 169, 178, 123, 114, 165, 153),
}
"""System calls that the threads of the inference profile need beside: rt_sigprocmask sigaltstack set_robust_list
getrandom, to wait for each other epoll_wait epoll_ctl epoll_pwait eventfd2 epoll_create1, and to measure how long they
take nanosleep getpid gettimeofday gettid time sched_getaffinity clock_getres getrusage times."""
CLOCK_CALLS = {"x86_64": (228, 230), "aarch64": (113, 115)}
"""clock_gettime and clock_nanosleep, answered in the inference profile for clocks of the machine and of the process
itself. The clock of another process has a negative number, which looks large."""
N_CLOCKS = 12
VDSO_CALLS = {
    "__vdso_clock_gettime": 228, "__vdso_gettimeofday": 96, "__vdso_time": 201, "__vdso_clock_getres": 229,
    "__vdso_getcpu": 309, "__vdso_getrandom": 318,
}  # fmt: skip
"""Functions by which a process on x86_64 learns the time and alike without a system call, and that call's number."""
CLONE_CALL = {"x86_64": 56, "aarch64": 220}
"""clone, answered in the inference profile when it asks for a thread, never for a process."""
FCNTL_CALL = {"x86_64": 72, "aarch64": 25}
"""fcntl, answered there when it copies a descriptor."""
F_DUPFD_CLOEXEC = 1030
MAPPING_CALLS = {"x86_64": (9, 10), "aarch64": (222, 226)}
"""mmap and mprotect, refused when they ask for executable memory."""
CLONE3 = 435
CLONE_THREAD = 0x00010000
NO_CLOCKS = "no_clocks"
"""Name of the layer in which a theory learns neither the time nor how long something takes."""

CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = (
    0x04000000,
    0x08000000,
    0x10000000,
    0x40000000,
)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_TSC, PR_SET_NO_NEW_PRIVS = (
    1,
    4,
    22,
    26,
    38,
)
AT_SYSINFO_EHDR, SHT_DYNSYM, MAP_FIXED = 33, 11, 16
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446


@cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """A C function whose failure is an `OSError`."""
    result: int = getattr(libc(), name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def address_space_bytes() -> int:
    """Address space of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="utf-8") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


FIRST_WITH_COUNTS = (5, 14)
"""Linux from which on it counts the processes of a user namespace apart."""
SPARE_USER, NOBODY = 1, 65534
"""A user of the namespace who is not root, and what that user is outside."""


@contextlib.contextmanager
def named_users() -> Iterator[None]:
    """Give users to the namespace that is entered in the block, without which no namespace can be made within it.

    They are the user that the laboratory runs as and, where that is root, whom nothing limits, `SPARE_USER`. A process
    that has stayed outside writes the maps.
    """
    if sys.platform != "linux":
        yield
        return
    own, user, group = os.getpid(), os.getuid(), os.getgid()
    reader, writer = os.pipe()
    helper = os.fork()
    if helper == 0:
        try:
            os.close(writer)
            os.read(reader, 1)
            second = "" if user else f"{SPARE_USER} {NOBODY} 1\n"
            maps = {"uid_map": f"{user} {user} 1\n{second}", "gid_map": f"{group} {group} 1\n"}
            for name, text in ({"setgroups": "deny"} | maps).items():
                with open(f"/proc/{own}/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        finally:
            os._exit(0)
    os.close(reader)
    try:
        yield
    finally:
        os.close(writer)
        os.waitpid(helper, 0)


def limit_threads(is_root: bool) -> None:
    """Let this process have `MOST_THREADS` threads at most: the kernel counts them by user and user namespace.

    Args:
        is_root: Whether the laboratory runs as root, so that this process becomes `SPARE_USER` first.
    """
    release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    if release < FIRST_WITH_COUNTS:
        raise OSError("this kernel counts all processes of a user together")
    if is_root:
        call("setresuid", SPARE_USER, SPARE_USER, SPARE_USER)
    call("unshare", CLONE_NEWUSER)
    resource.setrlimit(resource.RLIMIT_NPROC, (MOST_THREADS, MOST_THREADS))


def enter_namespaces() -> tuple[str, ...]:
    """Leave the machine's network, host name and shared memory; must run in a process with one thread."""
    if sys.platform != "linux":
        return ()
    inner = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    for flags, names in (
        (CLONE_NEWUSER | inner, ("userns", "netns")),
        (inner, ("netns",)),
        (CLONE_NEWUSER, ("userns",)),
    ):
        try:
            call("unshare", flags)
        except OSError:
            continue
        return names
    return ()


def divert_clocks() -> bool:
    """Have the functions that tell the time without a system call make one, which a filter can refuse.

    The kernel maps these functions, the vDSO, into every process; here their first bytes are replaced. Children inherit
    this. See vdso(7).

    Returns:
        Whether it was done; only for Linux on x86_64 it is known how.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    getauxval = libc().getauxval
    getauxval.restype, getauxval.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
    base = getauxval(AT_SYSINFO_EHDR)
    if not base:
        return False
    image, places = vdso_image(base)
    if "__vdso_clock_gettime" not in places:
        return False
    for name in VDSO_CALLS.keys() & places.keys():
        code = (
            b"\xb8" + struct.pack("<I", VDSO_CALLS[name]) + b"\x0f\x05\xc3"
        )  # mov eax, number; syscall; ret
        image[places[name] : places[name] + len(code)] = code
    size = ctypes.c_size_t(-(-len(image) // mmap.PAGESIZE) * mmap.PAGESIZE)
    change = libc().mmap
    change.restype = ctypes.c_void_p
    where = ctypes.c_void_p(base)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED
    if change(where, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, ctypes.c_long(0)) != base:
        return False
    ctypes.memmove(base, bytes(image), len(image))
    call("mprotect", where, size, mmap.PROT_READ | mmap.PROT_EXEC)
    return True


def vdso_image(base: int) -> tuple[bytearray, dict[str, int]]:
    """The ELF image at ``base``, and where in it each function begins."""
    (table,) = struct.unpack("<Q", ctypes.string_at(base + 40, 8))
    size, n_sections = struct.unpack("<HH", ctypes.string_at(base + 58, 4))
    image = bytearray(ctypes.string_at(base, table + size * n_sections))
    sections = [
        struct.unpack_from("<IIQQQQII", image, table + size * index) for index in range(n_sections)
    ]
    found = {}
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != SHT_DYNSYM:
            continue
        names = sections[link][4]
        for place in range(offset, offset + length, 24):
            name, _, _, _, value = struct.unpack_from("<IBBHQ", image, place)
            end = image.index(b"\0", names + name)
            found[image[names + name : end].decode()] = value
    return image, found


def give_up_rights(
    address_space: int, *, compiling: bool = False, diverted: bool = False, is_root: bool = False
) -> tuple[str, ...]:
    """Apply every layer that works here, in an order in which none undoes another; return their names.

    Args:
        address_space: Largest address space that is allowed from now on, in bytes.
        compiling: Whether threads and executable memory stay allowed, as a compiler and a sampler need them.
        diverted: Whether `divert_clocks` was done, so that the filter refuses the time as well.
        is_root: Whether the laboratory runs as root.
    """
    if sys.platform != "linux":
        set_limits(address_space, threads=compiling)
        return ("rlimits",)
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        # It makes a namespace, in which a process has all capabilities, and so comes before they are given up.
        (THREAD_LIMIT, partial(limit_threads, is_root) if compiling else not_here),
        ("no_new_privs", lambda: void(call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))),
        ("no_capabilities", drop_capabilities),
        ("pdeathsig", lambda: void(call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))),
        ("not_dumpable", lambda: void(call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0))),
        ("landlock", restrict_files),
        ("rlimits", lambda: set_limits(address_space, threads=compiling)),
        ("no_time_stamps", stop_time_stamps if diverted else not_here),
        ("seccomp", lambda: filter_system_calls(compiling)),
    )
    done = []
    for name, step in steps:
        try:
            step()
        except (OSError, ValueError, KeyError):
            continue
        done.append(name)
    if "seccomp" in done and not compiling:
        done.append(NO_EXECUTABLE_MEMORY)
        if diverted:
            done.append(NO_CLOCKS)
    return tuple(done)


def stop_time_stamps() -> None:
    """Have the processor end this process where it reads the processor's own counter of time."""
    call("prctl", PR_SET_TSC, 2, 0, 0, 0)


def not_here() -> None:
    """The layer that is left out."""
    raise OSError("not in this profile")


def void(_: int) -> None:
    """Drop the result of a system call."""


def set_limits(address_space: int, *, threads: bool = False) -> None:
    """No files, no processes, no locked memory, no core dump, and memory up to ``address_space`` bytes.

    With ``threads`` their number is not limited here (see `limit_threads`), and a few descriptors more may be had, by
    which they wait for each other.
    """
    for name, value in (
        ("RLIMIT_AS", address_space),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MEMLOCK", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_NOFILE", 16 if threads else 5),
    ):
        if hasattr(resource, name) and not (threads and name == "RLIMIT_NPROC"):
            _, hard = resource.getrlimit(getattr(resource, name))
            lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(getattr(resource, name), (lowest, lowest))


def drop_capabilities() -> None:
    """Give up every capability, those within a user namespace included."""
    call("capset", struct.pack("<Ii", 0x20080522, 0), bytes(24))


def landlock_abi() -> int:
    """Version of Landlock that this kernel has; 0 for none."""
    try:
        return call("syscall", LANDLOCK_CREATE_RULESET, None, 0, 1)
    except (OSError, AttributeError):
        return 0


def restrict_files() -> None:
    """Landlock without a single rule: no file can be opened, no TCP used, no signal sent outside."""
    abi = landlock_abi()
    if not abi:
        raise OSError("this kernel has no Landlock")
    files = (1 << 13) - 1 | (abi >= 2) << 13 | (abi >= 3) << 14 | (abi >= 5) << 15
    attributes = struct.pack("<QQQ", files, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = call(
        "syscall",
        LANDLOCK_CREATE_RULESET,
        attributes,
        ctypes.c_size_t(size),
        0,
    )
    try:
        call("syscall", LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


BpfInstruction = tuple[int, int, int, int]
"""Code, places to jump over if a test holds and if not, and a number."""
LOAD, EQUAL, AT_LEAST, ANY_BIT, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000
PROT_EXEC = 4


@cache
def filter_program(compiling: bool = False) -> bytes:
    """The system call filter as a classic BPF program; raises KeyError on an architecture without a table."""
    machine = platform.machine()
    architecture, allowed = SYSTEM_CALLS[machine]
    program: list[BpfInstruction] = [
        (LOAD, 0, 0, 4),  # the architecture
        (EQUAL, 1, 0, architecture),
        (ANSWER, 0, 0, KILL),
        (LOAD, 0, 0, 0),  # the number of the call
        (AT_LEAST, 0, 1, 0x40000000),  # the x32 variant
        (ANSWER, 0, 0, KILL),
        (EQUAL, 0, 1, CLONE3),  # its flags cannot be read here
        (ANSWER, 0, 0, 0x00050000 | 38),  # ENOSYS makes the C library fall back
    ]
    if compiling:
        allowed = (*allowed, *MAPPING_CALLS[machine], *THREAD_CALLS[machine])
        for number in CLOCK_CALLS[machine]:  # the first argument is the clock
            program += _if_argument(number, 0, (AT_LEAST, 1, 0, N_CLOCKS), (ALLOW, REFUSE))
        flags = _if_argument(CLONE_CALL[machine], 0, (ANY_BIT, 1, 0, CLONE_THREAD), (REFUSE, ALLOW))
        command = _if_argument(
            FCNTL_CALL[machine], 1, (EQUAL, 1, 0, F_DUPFD_CLOEXEC), (REFUSE, ALLOW)
        )
        program += [*flags, *command]
    else:
        for number in MAPPING_CALLS[machine]:  # the third argument is the protection
            program += _if_argument(number, 2, (ANY_BIT, 0, 1, PROT_EXEC), (REFUSE, ALLOW))
    for number in allowed:
        program += [(EQUAL, 0, 1, number), (ANSWER, 0, 0, ALLOW)]
    program.append((ANSWER, 0, 0, REFUSE))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


class FilterArgument(ctypes.Structure):
    """A filter in the form of prctl(2): the number of instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@cache
def filter_argument(compiling: bool = False) -> FilterArgument:
    """`filter_program` for prctl(2)."""
    program = filter_program(compiling)
    return FilterArgument(len(program) // 8, program)


def prepare_rights(compiling: bool) -> None:
    """Make once what `give_up_rights` needs, before there are children that would each make it anew."""
    # Of other systems and processors something may be missing, and its layer with it.
    for name in ("prctl", "capset", "syscall"):
        with contextlib.suppress(AttributeError):
            getattr(libc(), name)
    with contextlib.suppress(KeyError, ValueError):
        filter_argument(compiling)


def _if_argument(
    number: int, place: int, test: BpfInstruction, answers: tuple[int, int]
) -> list[BpfInstruction]:
    """Answer one system call by the low half of an argument: `test` goes to the first answer or jumps to the second."""
    first, second = answers
    return [
        (EQUAL, 0, 4, number),
        (LOAD, 0, 0, 16 + 8 * place),
        test,
        (ANSWER, 0, 0, first),
        (ANSWER, 0, 0, second),
    ]


def filter_system_calls(compiling: bool = False) -> None:
    """Seccomp: from here on only `SYSTEM_CALLS` are answered; ``compiling`` adds `THREAD_CALLS` and threads."""
    call("prctl", PR_SET_SECCOMP, 2, ctypes.byref(filter_argument(compiling)), 0, 0)
