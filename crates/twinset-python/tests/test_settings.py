"""The settings of each function are the options of its job in Rust."""

from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import twinset
from twinset import _settings, _twinset

#: The type of the settings of each job, and those of its settings that are parameters of their own.
JOBS = {
    "join": ("JoinSettings", set()),
    "dedup": ("DedupSettings", set()),
    "explain": ("ExplainSettings", set()),
    "tune": ("TuneSettings", set()),
    "sketch": ("SketchSettings", set()),
    "profile": ("ProfileSettings", set()),
    "index create": ("CreateSettings", {"kind"}),
    "index add": ("AddSettings", set()),
    "index query": ("QuerySettings", {"like", "id"}),
    "index join": ("IndexJoinSettings", set()),
    "index count": ("CountSettings", {"threshold"}),
}


@pytest.mark.parametrize("job", JOBS)
def test_settings_are_options(job):
    kind, parameters = JOBS[job]
    options = _twinset.settings(job)
    hints = get_type_hints(getattr(_settings, kind))
    assert set(hints) == set(options) - parameters
    for name, hint in hints.items():
        if options[name] and get_origin(hint) is Literal:
            assert set(get_args(hint)) == options[name], name


def test_the_values_of_settings_are_checked():
    assert "jaccard" in _twinset.settings("join")["measure"]
    assert set(get_args(_settings.Method)) == _twinset.settings("join")["method"]


def test_help_lists_the_settings():
    assert "`measure`" in twinset.join.__doc__ and "`permutations`" in twinset.dedup.__doc__
    assert "twinset sketch --help" in twinset.sketch.__doc__
