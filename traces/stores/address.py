"""The address of a journal that is kept in a database, as the file that stands for it holds it."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from lakatos.traces.errors import JournalError

SCHEMES: Final = ("postgresql", "postgres")


class JournalAddress(NamedTuple):
    """Address at which a journal is stored."""

    url: str
    """libpq URI of the database, without a password."""
    run: str
    """Name of the run in it."""

    def __str__(self) -> str:
        return f"{self.url}#{self.run}"


def read_address(text: str) -> JournalAddress:
    """The address that a line of text gives.

    Raises:
        JournalError: It is no address, names no run, or holds a password.
    """
    parts = urlsplit(text.strip())
    if parts.scheme not in SCHEMES or not parts.fragment or "\x00" in unquote(parts.fragment):
        raise JournalError(
            f"{_shown(text)} is no address of a journal: write postgresql://USER@HOST:PORT/DATABASE#RUN."
        )
    if parts.password is not None or re.search(r"(^|&)(password|passfile)=", parts.query):
        raise JournalError(
            f"the address {_shown(text)} holds a password, which would stand in the run's folder: give it by the "
            "variable PGPASSWORD or in ~/.pgpass instead."
        )
    return JournalAddress(parts._replace(fragment="").geturl(), parts.fragment)


def _shown(text: str) -> str:
    """An address without its password."""
    return repr(re.sub(r"(?<=:)[^:@/]*(?=@)", "...", text.strip()[:200]))
