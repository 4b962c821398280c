"""What can carry a pass, by name, for commands that must not load what it is made of."""

from typing import Literal

EngineName = Literal["prefect", "none"]
