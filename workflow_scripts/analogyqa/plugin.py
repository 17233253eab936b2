"""What all plug-ins have in common: code that is imported when it is used.

Each kind of plug-in has a specification class and a dictionary in the `specs.py` of its package.
They say what a plug-in needs without importing PyTorch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Plugin:
    """A class or function of the library.

    Args:
        path: where its code is, `module:attribute`.
    """

    path: str

    @property
    def module(self) -> str:
        return self.path.partition(":")[0]

    def load(self) -> Callable[..., Any]:
        """Import the module and return the class or function."""
        return getattr(import_module(self.module), self.path.partition(":")[2])
