from tests.tools.kept import Kept, digest_of


def test_a_second_look_at_the_same_tree_knows_what_the_first_found(tmp_path):
    first = Kept(tmp_path / "kept", "a")
    assert (first.watched, first.outcome("m1")) == (None, None)
    first.keep_watched({"test": {"s": 0.5}})
    first.keep_outcome("m1", "killed", "test_x")
    second = Kept(tmp_path / "kept", "a")
    assert (second.watched, second.outcome("m1"), second.outcome("m2")) == ({"test": {"s": 0.5}}, ("killed", "test_x"), None)


def test_what_was_found_in_another_tree_is_forgotten(tmp_path):
    first = Kept(tmp_path, "a")
    first.keep_watched({})
    first.keep_outcome("m1", "killed", "")
    other = Kept(tmp_path, "b")
    assert (other.watched, other.outcome("m1")) == (None, None)
    assert Kept(tmp_path, "a").outcome("m1") is None


def test_a_line_that_was_cut_is_looked_at_again(tmp_path):
    first = Kept(tmp_path, "a")
    first.keep_outcome("m1", "killed", "")
    with (tmp_path / "outcomes.jsonl").open("a") as file:
        file.write('["m2", ["surv')
    again = Kept(tmp_path, "a")
    assert (again.outcome("m1"), again.outcome("m2")) == (("killed", ""), None)
    again.keep_outcome("m2", "survived", "(1 tests)")
    assert Kept(tmp_path, "a").outcome("m2") == ("survived", "(1 tests)")


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = Kept(None, "a")
    kept.keep_watched({})
    kept.keep_outcome("m1", "killed", "")
    assert (kept.watched, kept.outcome("m1")) == (None, ("killed", ""))
    assert list(tmp_path.iterdir()) == []


def test_a_tree_is_known_by_names_and_contents(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("1")
    (tmp_path / "a" / "notes.md").write_text("1")
    first = digest_of(tmp_path, ["a"])
    (tmp_path / "a" / "notes.md").write_text("2")
    assert digest_of(tmp_path, ["a"]) == first
    (tmp_path / "a" / "x.py").rename(tmp_path / "a" / "y.py")
    assert digest_of(tmp_path, ["a"]) != first
