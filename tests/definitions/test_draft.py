"""Where each part of a definition was written, as layer is laid over layer."""

from definitions.draft import Draft
from definitions.yaml_source import SourceLocation


def layer(origin):
    return lambda path: SourceLocation(f"{origin}:{'.'.join(map(str, path))}", origin)


def test_mappings_that_a_setting_makes_are_said_to_be_written_there():
    draft = Draft({"name": "demo"}, layer("file"))
    draft.put(("local", "budget", "max_cost"), 3, layer("--set"))
    assert draft.data == {"name": "demo", "local": {"budget": {"max_cost": 3}}}
    assert draft.place(("local",)).text == "--set:local"
    assert draft.place(("local", "budget")).text == "--set:local.budget"
    assert draft.place(("local", "budget", "max_cots")).text == "--set:local.budget"
    assert draft.place(("study",)).text == "file:"


def test_mappings_that_were_there_keep_their_place():
    draft = Draft({"budget": {"max_run": 60}}, layer("file"))
    draft.put(("budget", "max_cost"), 3, layer("--set"))
    assert draft.place(("budget",)).text == "file:budget"
    assert (draft.origin(("budget", "max_run")), draft.origin(("budget", "max_cost"))) == ("file", "--set")


def test_parts_of_what_was_replaced_have_no_place_of_their_own_any_more():
    draft = Draft({"space": {"x": {"uniform": [0, 1]}}}, layer("file"))
    draft.put(("space", "x"), 3, layer("--set"))
    assert draft.place(("space", "x", "uniform")).text == "--set:space.x"
    assert draft.place(("space",)).text == "file:space"


def test_what_is_laid_over_is_not_what_is_changed_later():
    given = {"trials": [{"x": 1}]}
    draft = Draft({}, layer("file"))
    draft.merge((), given, layer("file"))
    draft.data["trials"][0]["x"] = 9
    assert given == {"trials": [{"x": 1}]}


def test_a_removed_part_has_its_parents_place_and_no_origin():
    draft = Draft({"budget": {"max_run": 60}}, layer("file"))
    draft.remove(("budget", "max_run"))
    draft.remove(("study", "seeds"))
    assert draft.data == {"budget": {}}
    assert draft.place(("budget", "max_run")).text == "file:budget"
    assert draft.origin(("budget", "max_run")) == "default"
