import json
import math
from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.traces.digest import canonical_json, digest_of
from lakatos.traces.errors import RecordError

text = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(text, inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_canonical_json_reads_back_as_the_value(value):
    assert json.loads(canonical_json(value)) == value


@given(values)
def test_canonical_json_of_what_was_read_is_the_same_text(value):
    written = canonical_json(value)
    assert canonical_json(json.loads(written)) == written


@given(values)
def test_canonical_json_is_what_the_public_encoder_writes(value):
    told = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    assert canonical_json(value).decode() == told


def test_a_value_that_holds_itself_is_refused():
    value = {}
    value["itself"] = [value]
    with pytest.raises(RecordError, match="nested too deeply"):
        canonical_json(value)


@given(st.dictionaries(text, values, max_size=5))
def test_order_of_keys_does_not_matter(value):
    assert digest_of(value) == digest_of(dict(reversed(value.items())))


def test_known_values_have_known_texts():
    assert canonical_json({"b": [1, 1.0, -0.0, 1e21], "a": "é\n", "c": (None, True)}) == (
        '{"a":"é\\n","b":[1,1.0,-0.0,1e+21],"c":[null,true]}'.encode()
    )


def test_known_digest_is_sha256_of_the_text():
    assert digest_of({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        [-math.inf],
        {1: 2},
        {"a": [{None: 1}]},
        b"bytes",
        {1, 2},
        object(),
        "\ud800",
    ],
)
def test_what_json_has_no_word_for_is_refused(value):
    with pytest.raises(RecordError, match="canonical JSON"):
        canonical_json(value)


def test_endless_nesting_is_refused():
    value: list = []
    value.append(value)
    with pytest.raises(RecordError, match="canonical JSON"):
        canonical_json(value)


@pytest.mark.parametrize(
    "value",
    [{1: 2}, [1.0, {1: 2}], {"a": ({"b": [{1: 2}]},)}, [OrderedDict({1: 2})], [[], {"a": {None: 1}}]],
)  # fmt: skip
def test_a_key_that_is_no_text_is_refused_however_deep_it_lies(value: object) -> None:
    with pytest.raises(RecordError, match="is not text"):
        canonical_json(value)
