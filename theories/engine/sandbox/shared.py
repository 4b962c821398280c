"""Memory that the laboratory and the process of one theory share, so that large arrays need not go through a pipe.

There are two pieces, made for one process and gone with it. What the laboratory *sends* the process can read and in no
way write: the laboratory mapped it before it was sealed, and nobody can map it to write since. What the process
*answers* both can write, so the laboratory copies it out before it looks at it. Neither piece can be made longer or
shorter, so that neither side can take memory away under the other. See memfd_create(2) and fcntl(2).
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence

FROM_BYTES = 16384
"""Payloads smaller than this go through the pipe, where they arrive together with what is said about them."""
CALL_BYTES = 64 * 2**20
"""Room for what is sent with one call, beside the stimuli; more goes through the pipe."""
SEAL_SEAL, SEAL_SHRINK, SEAL_GROW, SEAL_FUTURE_WRITE = 0x01, 0x02, 0x04, 0x10


def is_shared(n_bytes: int, room: int) -> bool:
    """Whether a payload goes through a piece of shared memory that has ``room``; both sides go by this."""
    return FROM_BYTES <= n_bytes <= room


class SharedPieces:
    """The laboratory's side of the two pieces. Pages are taken from the machine only when they are first written."""

    def __init__(self, kept_bytes: int, answer_bytes: int) -> None:
        """Make the two pieces of shared memory: for requests and for answers.

        Args:
            kept_bytes: Room for what is sent first and stays as it is.
            answer_bytes: Room for one answer.

        Raises:
            OSError, AttributeError, ImportError: This system has no such memory.
        """
        import fcntl

        self.n_bytes = kept_bytes + CALL_BYTES + answer_bytes
        self.answer_bytes = answer_bytes
        self.descriptors: tuple[int, ...] = ()
        """Descriptors that the process needs to map both pieces; close them once it has got them."""
        self._start = 0
        fixed = SEAL_SHRINK | SEAL_GROW | SEAL_SEAL
        try:
            for n_bytes in (kept_bytes + CALL_BYTES, answer_bytes):
                self.descriptors += (
                    os.memfd_create("lakatos", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING),
                )
                os.ftruncate(self.descriptors[-1], n_bytes)
            sending, answering = self.descriptors
            self._sent = mmap.mmap(sending, 0)
            fcntl.fcntl(sending, fcntl.F_ADD_SEALS, fixed | SEAL_FUTURE_WRITE)
            fcntl.fcntl(answering, fcntl.F_ADD_SEALS, fixed)
            self._answers = mmap.mmap(answering, 0, prot=mmap.PROT_READ)
        except BaseException:
            self.close_descriptors()
            raise

    def send(self, payload: bytes) -> bool:
        """Lay ``payload`` down where the process looks for it; False if it has to go through the pipe."""
        if not is_shared(len(payload), len(self._sent) - self._start):
            return False
        self._sent[self._start : self._start + len(payload)] = payload
        return True

    def keep(self, n_bytes: int) -> None:
        """Let what was sent first stay as it is: later payloads are laid down behind it."""
        self._start = kept_bytes(n_bytes)

    def answer(self, start: int, n_bytes: int) -> memoryview:
        """A part of the answer, where the process can still change it: copy it before looking at it."""
        return memoryview(self._answers)[start : start + n_bytes]

    def close_descriptors(self) -> None:
        """Close what was only needed to hand the memory over."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = ()


def make_shared(first_bytes: int, answer_bytes: int) -> SharedPieces | None:
    """Shared memory for a process whose first payload has ``first_bytes``; None where the system has none."""
    try:
        return SharedPieces(kept_bytes(first_bytes), answer_bytes)
    except (OSError, AttributeError, ImportError):
        return None


def kept_bytes(n_bytes: int) -> int:
    """Room that a first payload takes: nothing if it is small, else whole pages."""
    return -(-n_bytes // mmap.PAGESIZE) * mmap.PAGESIZE if n_bytes >= FROM_BYTES else 0


def map_shared(descriptors: Sequence[int]) -> tuple[memoryview, memoryview]:
    """The process's side: what it is sent, read-only, and room for its answers; empty without ``descriptors``."""
    if len(descriptors) < 2:
        return memoryview(b""), memoryview(b"")
    sending, answering = descriptors
    return memoryview(mmap.mmap(sending, 0, prot=mmap.PROT_READ)), memoryview(
        mmap.mmap(answering, 0)
    )
