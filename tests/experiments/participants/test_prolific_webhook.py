"""Notifications are believed only when the service signed them, and not again later."""

import base64
import hashlib
import hmac

import pytest

from lakatos.experiments.participants.prolific.errors import ProlificError
from lakatos.experiments.participants.prolific.webhook import verify_notification

SECRET, NOW_S, BODY = "hook-secret", 1_700_000_000.0, b'{"event_type":"submission.status.change"}'


def signed(body=BODY, *, secret=SECRET, stamp=str(int(NOW_S)), **more):
    mac = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256)
    signature = base64.b64encode(mac.digest()).decode()
    return {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": signature,
        **more,
    }


def test_a_signed_notification_gives_its_identifier_whatever_the_case_of_its_headers():
    headers = {name.lower(): value for name, value in signed(**{"X-Event-ID": "e1"}).items()}
    assert verify_notification(SECRET, headers, BODY, now_s=NOW_S) == "e1"


def test_the_signature_is_the_one_of_a_known_example():
    # HMAC-SHA256 with the key "key" over "The quick brown fox jumps over the lazy dog" (Wikipedia, HMAC, examples).
    stamp, body = "1", b"The quick brown fox jumps over the lazy dog"
    known = bytes.fromhex("f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8")
    assert hmac.new(b"key", body, hashlib.sha256).digest() == known
    headers = signed(body[1:], secret="key", stamp="T")
    assert base64.b64decode(headers["X-Prolific-Request-Signature"]) == known
    with pytest.raises(ProlificError, match="too far"):
        verify_notification("key", headers, body[1:], now_s=float(stamp))


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (signed(), BODY + b" "),
        (signed(secret="other"), BODY),
        (signed() | {"X-Prolific-Request-Timestamp": str(int(NOW_S) + 1)}, BODY),
        (signed() | {"X-Prolific-Request-Signature": ""}, BODY),
        (signed() | {"X-Prolific-Request-Signature": "ünlesbar"}, BODY),
        ({}, BODY),
    ],
)
def test_anything_that_was_changed_is_refused(headers, body):
    with pytest.raises(ProlificError, match="not signed"):
        verify_notification(SECRET, headers, body, now_s=NOW_S)


def test_an_empty_secret_verifies_nothing():
    with pytest.raises(ProlificError, match="not signed"):
        verify_notification("", signed(secret=""), BODY, now_s=NOW_S)


@pytest.mark.parametrize("off_s", [-301.0, 301.0, 86_400.0])
def test_a_notification_that_is_sent_again_later_is_refused(off_s):
    with pytest.raises(ProlificError, match="too far"):
        verify_notification(SECRET, signed(), BODY, now_s=NOW_S + off_s)


def test_a_repeated_delivery_has_the_same_identifier_also_without_one():
    first = verify_notification(SECRET, signed(), BODY, now_s=NOW_S)
    assert verify_notification(SECRET, signed(), BODY, now_s=NOW_S + 5) == first
    other = b'{"event_type":"study.status.change"}'
    assert verify_notification(SECRET, signed(other), other, now_s=NOW_S) != first


@pytest.mark.parametrize("off_s", [-300.0, 300.0])
def test_a_notification_of_just_five_minutes_ago_is_believed(off_s):
    headers = signed(**{"X-Event-ID": "e1"})
    assert verify_notification(SECRET, headers, BODY, now_s=NOW_S + off_s) == "e1"


@pytest.mark.parametrize("stamp", ["yesterday", "nan", "inf"])
def test_a_stamp_that_is_no_time_is_refused(stamp):
    with pytest.raises(ProlificError, match="too far"):
        verify_notification(SECRET, signed(stamp=stamp), BODY, now_s=NOW_S)
