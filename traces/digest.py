"""Names of things by their content: canonical JSON and SHA-256."""

import hashlib
import json
import json.encoder
import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from lakatos.traces.errors import RecordError

_PATTERN: Final = r"^[0-9a-f]{64}$"
_IS_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
STORED: Final = "names a record or an artifact of the same trace"
"""Marks the annotation `Digest`, so that the audit can tell which fields of a record name something stored."""


class _DigestPattern:
    """Form of a digest in the fields of records; pydantic is loaded only where there are any."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> Any:
        from pydantic_core import core_schema

        return core_schema.str_schema(pattern=_PATTERN)


Digest = Annotated[str, _DigestPattern(), STORED]
"""SHA-256 of a record or an artifact of the same trace, 64 lower-case hexadecimal digits. The audit looks it up."""

Fingerprint = Annotated[str, _DigestPattern()]
"""SHA-256 of something kept elsewhere (a lock file, model weights). The audit does not look it up."""

_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_HOLDERS: Final = (dict, list, tuple)
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))
"""Types that hold nothing; to find one here takes less time than to ask whether it is one of `_HOLDERS`."""


def _text_encoder() -> Callable[[Any], str]:
    """Make the function that writes a value as text: Python's compiled encoder, made once.

    ``JSONEncoder.encode`` makes the compiled one anew for each value, which takes longer than to write a small one. It
    remembers nothing of what it is in the middle of, so values that hold themselves end in a `RecursionError`.
    """
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _ENCODER.encode
    text_of = json.encoder.encode_basestring
    parts = make(None, _ENCODER.default, text_of, None, ":", ",", True, False, False)

    def encode(value: Any) -> str:
        return "".join(parts(value, 0))

    return encode


_encode: Final = _text_encoder()


def canonical_json(value: object) -> bytes:
    """The one JSON text of ``value``: keys sorted, no spaces, UTF-8, floats as the shortest text that reads back.

    It follows RFC 8785 but for two choices that keep Python values apart: ``1.0`` is not written as ``1``, and keys
    are sorted by code point. Tuples are written as arrays.

    Raises:
        RecordError: ``value`` holds NaN, an infinity, a key that is not text, or anything else JSON has no word for.
    """
    try:
        if isinstance(value, _HOLDERS):
            _check_keys(value)
        return _encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RecordError(
            f"a value of type {type(value).__name__!r} cannot be written as canonical JSON: {problem}. "
            "Use null, booleans, finite numbers, text, lists and objects with text keys; store arrays as an artifact."
        ) from error


def _check_keys(value: Any) -> None:
    """Refuse keys that the JSON encoder would quietly turn into text."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
        value = value.values()
    for inner in value:
        if type(inner) not in _PLAIN and isinstance(inner, _HOLDERS):
            _check_keys(inner)


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of ``data``, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of(value: object) -> Digest:
    """SHA-256 of the canonical JSON of ``value``."""
    return digest_bytes(canonical_json(value))


def is_digest(value: object) -> bool:
    """Whether ``value`` is text in the form of a digest."""
    return isinstance(value, str) and _IS_DIGEST.fullmatch(value) is not None
