"""The settings of each function are the flags of its command."""

import re
from typing import get_type_hints

import pytest
from conftest import command
import twinset
from twinset import _settings

#: Flags that are no settings: what a function says by itself, or does not need.
OWN = {"help", "quiet", "json"}
FUNCTIONS = {
    "join": ("JoinSettings", set()),
    "dedup": ("DedupSettings", {"against", "groups", "count", "stream", "window"}),
    "explain": ("ExplainSettings", set()),
    "tune": ("TuneSettings", {"truth"}),
    "sketch": ("SketchSettings", {"output"}),
    "profile": ("ProfileSettings", set()),
    "index create": ("CreateSettings", {"kind"}),
    "index add": ("AddSettings", set()),
    "index query": ("QuerySettings", {"like", "id"}),
    "index join": ("IndexJoinSettings", set()),
    "index count": ("CountSettings", {"threshold"}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_settings_are_flags(name):
    printed = command(*name.split(), "--help")
    flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", printed, re.MULTILINE)) - OWN
    settings, arguments = FUNCTIONS[name]
    assert set(get_type_hints(getattr(_settings, settings))) == {flag.replace("-", "_") for flag in flags - arguments}


def test_help_lists_the_settings():
    assert "`measure`" in twinset.join.__doc__ and "`permutations`" in twinset.dedup.__doc__
    assert "twinset sketch --help" in twinset.sketch.__doc__
