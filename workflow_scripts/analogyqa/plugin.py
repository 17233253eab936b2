"""What all plug-ins have in common: code that is imported when it is used.

Each kind of plug-in has a specification class and a dictionary in the `specs.py` of its package.
They say what a plug-in needs without importing PyTorch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any


@dataclass(frozen=True)
class Plugin:
    """A class or function of the library, at `path`: `module:attribute`."""

    path: str

    @property
    def definition(self) -> str:
        """The dotted name of the class or function, from which `code_hash` may start."""
        return self.path.replace(":", ".")

    def load(self) -> Callable[..., Any]:
        """Import the module and return the class or function."""
        return resolve_name(self.path)
