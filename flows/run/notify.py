"""Messages about runs that concluded: by e-mail, to a web address or to a chat, through the library Apprise."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Final

from lakatos.traces.wording import printable

VARIABLE: Final = "LAKATOS_NOTIFY"
"""Addresses as Apprise writes them, with spaces between them: ``mailto://USER:PASSWORD@HOST?to=ADDRESS``, or
``jsons://HOST/PATH`` for a web address that receives JSON."""
_log = logging.getLogger(__name__)


def notify(title: str, text: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send a message to the addresses of the environment. A message that cannot be sent stops nothing.

    Args:
        title: Subject.
        text: What happened.
        environment: Variables; `VARIABLE` names the addresses.

    Returns:
        Whether all addresses took the message; True if there are none.
    """
    addresses = environment.get(VARIABLE, "").split()
    if not addresses:
        return True
    import apprise

    logging.getLogger("apprise").setLevel(
        logging.CRITICAL
    )  # it would print addresses, which hold passwords
    sender = apprise.Apprise()
    n_known = sum(bool(sender.add(address)) for address in addresses)
    is_sent = bool(sender.notify(title=printable(title), body=printable(text), body_format="text"))
    if n_known < len(addresses) or not is_sent:
        n_wrong = len(addresses) - n_known
        _log.warning(
            "%s: the message %r did not reach every address (%d cannot be understood); check the variable.",
            VARIABLE, title, n_wrong,
        )  # fmt: skip
    return is_sent and n_known == len(addresses)
