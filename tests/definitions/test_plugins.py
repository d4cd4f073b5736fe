"""Entry points of installed packages."""

import runpy
from importlib import metadata

from definitions import plugins
from definitions.plugins import installed


def test_entry_points_of_a_group_are_those_that_the_packages_declare():
    assert {point.value for point in installed("console_scripts")} == {
        point.value for point in metadata.entry_points(group="console_scripts")
    }
    assert installed("outrider.there_is_no_such_group") == ()


def test_packages_are_read_once():
    reads = []
    point = metadata.EntryPoint("mine", "a.b:C", "outrider.methods")
    fresh = runpy.run_path(plugins.__file__)["installed"]
    fresh.__globals__["entry_points"] = lambda: reads.append(1) or metadata.EntryPoints([point])
    assert (fresh("outrider.methods"), fresh("outrider.backends")) == ((point,), ())
    assert reads == [1]
