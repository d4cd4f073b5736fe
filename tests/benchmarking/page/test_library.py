"""What draws, packed into the page, and the checksum by which the page lets it run."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util

from benchmarking.page.library import drawing_library, script_checksum


def test_it_unpacks_to_what_its_checksum_is_of_and_is_the_same_each_time():
    library = drawing_library()
    script = gzip.decompress(base64.b64decode(library.packed))
    assert base64.b64encode(hashlib.sha256(script).digest()).decode() == library.checksum
    assert b"Plotly" in script
    assert drawing_library() == library


def test_packed_it_leaves_room_in_a_page_of_five_megabytes():
    assert len(drawing_library().packed) < 2_100_000


def test_a_checksum_is_the_one_that_browsers_compute():
    # Of the empty script, from the specification of Content Security Policy.
    assert script_checksum(b"") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


def test_without_plotly_or_its_script_there_is_none(tmp_path, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert drawing_library() is None
    (tmp_path / "plotly").mkdir()
    (tmp_path / "plotly" / "__init__.py").write_text("")
    spec = importlib.util.spec_from_file_location(
        "plotly", tmp_path / "plotly" / "__init__.py", submodule_search_locations=[str(tmp_path / "plotly")]
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "plotly" else found(name))
    assert drawing_library() is None
