"""Tables of plugins: names at once, modules when they are looked up."""

import subprocess
import sys

import pytest

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.domains.declared.program import NEEDED
from lakatos.domains.kit.archive import ArchiveReader
from lakatos.experiments.participants import SOURCES
from lakatos.language_models.clients import CLIENTS
from lakatos.theories.language.family import Family
from lakatos.traces.plugin_table import PluginTable
from lakatos.traces.stores import STORES

LOADED = """
import sys
from lakatos.domains import DOMAINS
before = set(sys.modules)
assert "risky" in DOMAINS and list(DOMAINS)[0] == "multiattribute" and len(DOMAINS) > 8
assert set(sys.modules) == before
DOMAINS["risky"]
new = set(sys.modules) - before
assert "lakatos.domains.risky.task" in new
others = set(DOMAINS) - {"risky", "learning"}  # declared tasks with feedback are made of the domain of learning
assert not {f"lakatos.domains.{name}.task" for name in others} & set(sys.modules)
"""


def test_names_are_known_without_loading_and_a_look_up_loads_one():
    subprocess.run([sys.executable, "-c", LOADED], check=True)


def test_every_domain_is_what_a_domain_must_be_and_has_its_name():
    for name, domain in DOMAINS.items():
        assert domain.name == name
        assert all(hasattr(domain, part) for part in NEEDED)


def test_every_family_is_of_the_domain_of_its_name():
    assert list(FAMILIES) == list(DOMAINS)
    assert all(isinstance(family, Family) for family in FAMILIES.values())
    assert [family.domain for family in FAMILIES.values()] == list(FAMILIES)


def test_every_data_set_has_the_name_under_which_it_is_listed():
    assert all(isinstance(reader, ArchiveReader) for reader in ARCHIVES.values())
    assert [reader.name for reader in ARCHIVES.values()] == list(ARCHIVES)


def test_sources_clients_and_stores_are_there():
    assert all(isinstance(source, type) and source.keys is not None for source in SOURCES.values())
    assert all(callable(client) for client in CLIENTS.values())
    for store in STORES.values():
        assert all(callable(getattr(store, verb)) for verb in ("create", "open", "append"))


def test_a_plugin_from_elsewhere_joins_and_leaves():
    table = PluginTable({"root": "math:sqrt"})
    table["own"] = abs
    assert list(table) == ["root", "own"]
    assert table["own"] is abs
    assert table["root"](9) == 3
    del table["own"]
    assert list(table) == ["root"]
    with pytest.raises(KeyError, match="own"):
        table["own"]


def test_a_plugin_that_is_not_where_the_table_says_fails_when_it_is_looked_up():
    table = PluginTable({"missing": "math:no_such_name"})
    assert "missing" in table
    with pytest.raises(AttributeError, match="no_such_name"):
        table["missing"]
