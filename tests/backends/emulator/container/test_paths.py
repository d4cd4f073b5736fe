"""Paths that requests, archives and buckets name never lead out of the container, by whatever way."""

from __future__ import annotations

import pytest

from backends.emulator.container.paths import place_of_object, resolve


@pytest.fixture
def ml(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("s")
    for name in ("model", "input/data/train", "checkpoints"):
        (tmp_path / "ml" / name).mkdir(parents=True)
    return tmp_path / "ml"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/opt/ml", ""),
        ("/opt/ml/", ""),
        ("/opt/ml/model/a", "model/a"),
        ("/opt//ml/./model//a/", "model/a"),
        ("/opt/ml/model/../checkpoints", "checkpoints"),
        ("/opt/ml/none/../../ml/model", "model"),
        ("/../../opt/ml/model", "model"),
        ("/opt/ml/new/folder", "new/folder"),
    ],
)
def test_what_is_in_the_container_is_found_there(ml, path, place):
    assert resolve(ml, path) == ml / place


@pytest.mark.parametrize(
    "path",
    ["/", "", "/opt", "/opt/mlx", "/etc/passwd", "/opt/ml/..", "/opt/ml/../../etc", "/opt/ml" + "/.." * 20 + "/tmp/x", "/OPT/ML/model"],
)
def test_what_is_not_has_no_place(ml, path):
    assert resolve(ml, path) is None


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("/opt/ml/checkpoints", "checkpoints/x"),
        ("../checkpoints", "checkpoints/x"),
        ("../../../../../opt/ml/checkpoints", "checkpoints/x"),
        ("/etc", None),
        ("..", "x"),
        ("../..", None),
        ("../../outside", None),
        ("loop", None),
        ("/opt/ml/model/loop", None),
    ],
)
def test_links_lead_where_they_do_in_the_container(ml, link, place):
    (ml / "model" / "loop").symlink_to(link)
    assert resolve(ml, "/opt/ml/model/loop/x") == (None if place is None else ml / place)


def test_a_link_by_the_real_path_is_one_into_the_container_where_programs_see_that(ml):
    (ml / "model" / "link").symlink_to(ml / "checkpoints")
    (ml / "model" / "out").symlink_to(ml.parent / "outside")
    assert resolve(ml, "/opt/ml/model/link/a") == ml / "checkpoints" / "a"
    assert resolve(ml, "/opt/ml/model/out/secret") is None


def test_a_link_out_and_back_is_followed_word_by_word(ml):
    (ml / "model" / "up").symlink_to("../../outside")
    assert resolve(ml, "/opt/ml/model/up/../opt/ml/model") is None
    assert resolve(ml, "/opt/ml/model/up/../../opt/ml/model") == ml / "model"  # as `cd` by its text would not, and the system does


def test_a_folder_within_bounds_what_is_named_in_it(ml):
    assert resolve(ml, "/opt/ml/input/data/train/../../config/x", "/opt/ml/input/data/train") is None
    assert resolve(ml, "/opt/ml/input/data/train2/x", "/opt/ml/input/data/train") is None


FOLDER = "/opt/ml/input/data/train"


EVERY = "".join(map(chr, range(32, 127))).replace("/", "")


@pytest.mark.parametrize("name", ["a", "a/b/c", "a/../b", "...", "..a", " ", "é", "e\u0301", EVERY, "x" * 255])
def test_objects_of_odd_names_become_files(ml, name):
    place = place_of_object(ml, FOLDER, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"x")
    assert place.is_relative_to(ml / "input/data/train")


def test_both_normal_forms_of_a_name_are_two_files(ml):
    assert place_of_object(ml, FOLDER, "é") != place_of_object(ml, FOLDER, "e\u0301")


@pytest.mark.parametrize("name", ["..", "../x", "a/../../x", ".", "", "a/..", "x" * 256, "é" * 128, "a/" + "x" * 1022, "a\0b"])
def test_names_that_no_file_can_have_are_said(ml, name):
    with pytest.raises(ValueError, match=r"no file can be called|leads out of its folder"):
        place_of_object(ml, FOLDER, name)
