"""Lakatos: a laboratory in which rival theories of human behaviour compete.

The packages lie at the top of a checkout and are imported as ``lakatos.flows``,
``lakatos.theories`` and so on: this folder holds a link to each. A wheel holds the packages
themselves in their place, and claims no other name in site-packages.
"""

from pathlib import Path

IMPORT_ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds this package: what another Python needs on its path to import it."""
