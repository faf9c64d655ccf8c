"""From keyword arguments to the words of a command."""

import os
from decimal import Decimal
from collections.abc import Mapping
from numbers import Number
from typing import Any

from . import _twinset

def words(settings: Mapping[str, Any]) -> list[str]:
    """The flags that settings stand for: `True` is a flag alone, a list repeats it, `None` and `False` leave it out."""
    found: list[str] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        values = value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is True:
                found.append(flag)
            elif one is not None and one is not False:
                found.append(f"{flag}={text(one)}")
    return found


def text(value: Any) -> str:
    """A setting as one would type it: a float by its shortest decimal, so 0.8 means 4/5."""
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    written = str(value)
    if isinstance(value, Number) and "e" in written.lower():
        return format(Decimal(written), "f")
    return written


def run(command: list[Any], settings: Mapping[str, Any], progress: bool = False) -> list[Any]:
    """Runs a command: its words, then its settings. Returns what it wrote."""
    settings = {"threads": _threads(), **settings}
    quiet = [] if progress else ["--quiet"]
    return _twinset.call([*command, *words(settings), *quiet])


def _threads() -> int:
    # A pool of threads for each call: one for all calls would not survive a fork.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
