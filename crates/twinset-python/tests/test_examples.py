"""The examples run."""

import pathlib
import runpy

import pytest

FOLDER = pathlib.Path(__file__).parents[3] / "examples"
# That for Spark is handed to Spark, in another test.
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if not path.stem.startswith("spark_"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    runpy.run_path(str(path))


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
