"""From keyword arguments to the words of a command."""

import os
from collections.abc import Mapping
from decimal import Decimal
from numbers import Number
from typing import Any

from . import _twinset


def run(
    command: list[str], places: list[Any], settings: Mapping[str, Any], progress: bool = False
) -> list[Any]:
    """Runs a command: its name, what it works on, its settings. Returns what it wrote: tables, text, or nothing."""
    settings = {"threads": _threads(), **settings}
    if settings.get("output") == "-":
        raise ValueError("standard output is the command's; leave output= out, and use what is returned")
    quiet = [] if progress else ["--quiet"]
    # What follows `--` is no flag, even if it looks like one.
    written = _twinset.call([*command, *flags(settings), *quiet, "--", *places])
    return [(one.decode() or None) if isinstance(one, bytes) and command[0] != "sketch" else one for one in written]


def flags(settings: Mapping[str, Any]) -> list[Any]:
    """The flags that settings stand for: `True` is a flag alone, a list repeats it, `None` and `False` leave it out."""
    found: list[Any] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if getattr(one, "dtype", None) == bool:
                one = bool(one)
            if one is True:
                found.append(flag)
            elif isinstance(one, Given):
                found += [flag, one.word]
            elif one is not None and one is not False:
                found.append(f"{flag}={text(one)}")
    return found


class Given:
    """A setting that is a table, or a place for one."""

    def __init__(self, word: Any) -> None:
        self.word = word


def text(value: Any) -> str:
    """A setting as one would type it: a float by its shortest decimal, so 0.8 means 4/5."""
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, bool) or not isinstance(value, (str, Number)):
        raise TypeError(f"a setting is a text, a number, True, or a list of these, not {type(value).__name__}: {value!r:.80}")
    written = str(value)
    try:
        os.fsencode(written)
    except UnicodeEncodeError:
        raise ValueError(f"{written!r} has a lone surrogate, which stands for no character") from None
    if isinstance(value, Number) and "e" in written.lower():
        return format(Decimal(written), "f")
    return written


def _threads() -> int:
    # A pool of threads for each call: one for all calls would not survive a fork.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
