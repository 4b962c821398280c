"""A table of plugins, each of which is loaded when somebody looks it up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TypeVar

Plugin = TypeVar("Plugin")


@dataclass(frozen=True)
class PluginPlace:
    """Place of a plugin that has not been imported yet."""

    name: str
    """Module and name in it, such as ``lakatos.domains.risky.task:DOMAIN``."""


class PluginTable(MutableMapping[str, Plugin]):
    """Plugins by name. The names are there at once; a plugin's module is imported when the plugin is looked up.

    So a run loads the one domain that it is about, not all of them. Whoever goes through the values loads all.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        """A table of ``places``: for each name, the plugin's module and its name there (see `PluginPlace`)."""
        self._plugins: dict[str, Plugin | PluginPlace] = {
            name: PluginPlace(place) for name, place in places.items()
        }

    def __getitem__(self, name: str) -> Plugin:
        plugin = self._plugins[name]
        if isinstance(plugin, PluginPlace):
            plugin = self._plugins[name] = resolve_name(plugin.name)
        return plugin

    def __setitem__(self, name: str, plugin: Plugin) -> None:
        self._plugins[name] = plugin

    def __delitem__(self, name: str) -> None:
        del self._plugins[name]

    def __contains__(self, name: object) -> bool:
        return name in self._plugins

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def __len__(self) -> int:
        return len(self._plugins)
