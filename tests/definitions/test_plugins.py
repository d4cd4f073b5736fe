"""Entry points of installed packages."""

from importlib import metadata

from definitions.plugins import installed


def test_entry_points_of_a_group_are_those_that_the_packages_declare():
    assert {point.value for point in installed("console_scripts")} == {
        point.value for point in metadata.entry_points(group="console_scripts")
    }
    assert installed("outrider.there_is_no_such_group") == ()


def test_packages_are_read_once_a_group(monkeypatch):
    asked = []
    monkeypatch.setattr("definitions.plugins.entry_points", lambda *, group: asked.append(group) or ())
    assert installed("outrider.asked_twice") == installed("outrider.asked_twice") == ()
    assert asked == ["outrider.asked_twice"]
