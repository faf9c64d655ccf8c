"""From keyword arguments to the options of a job, which are a JSON object."""

import difflib
import functools
import json
import os
from collections.abc import Mapping
from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any

from . import _twinset

#: Settings that name columns, whose names may be numbers.
COLUMNS = {"id", "text", "show", "same", "field", "originals_id"}


def options(job: str, settings: Mapping[str, Any]) -> str:
    """The settings of a job as JSON, without those that are `None`."""
    for name in settings:
        if name not in _names(job):
            close = difflib.get_close_matches(name, _names(job), 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")
    if settings.get("output") == "-":
        raise ValueError("standard output is the command's; leave output= out, and use what is returned")
    return json.dumps({name: _plain(name, value) for name, value in settings.items() if value is not None})


@functools.cache
def _names(job: str) -> frozenset[str]:
    return frozenset(_twinset.settings(job))


def path(value: Any) -> str:
    """A path as text."""
    return str(_plain("path", value))


def _plain(name: str, value: Any) -> Any:
    """A setting as JSON has it; a float is written as its shortest decimal, so 0.8 means 4/5."""
    if isinstance(value, (list, tuple)):
        return [_plain(name, one) for one in value]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool) or getattr(value, "dtype", None) == bool:
        return bool(value)
    if isinstance(value, str) or name in COLUMNS and isinstance(value, Number):
        try:
            str(value).encode()
        except UnicodeEncodeError:
            raise ValueError(f"{name}={value!r}: a lone surrogate stands for no character") from None
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() or isinstance(value, Real) and not hasattr(value, "denominator"):
        number = float(str(value))
        return number if abs(number) < float("inf") else str(value)
    if isinstance(value, Number):
        return str(value)
    raise TypeError(f"{name}= is a text, a number, True, or a list of these, not {type(value).__name__}: {value!r:.80}")
