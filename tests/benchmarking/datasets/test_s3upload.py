"""What is left to do for a copy in S3. Uploads themselves are tested with our server, in test_s3server.py."""

import pytest

from benchmarking.datasets.s3upload import steps

LOCAL = {"a/1.jpg": 10, "a/2.jpg": 20, "copy-2/a/1.jpg": 10, "copy-2/a/2.jpg": 20}


@pytest.mark.parametrize(
    ("there", "copies", "puts", "made"),
    [
        ({}, 2, ("a/1.jpg", "a/2.jpg"), {"copy-2/a/1.jpg": "a/1.jpg", "copy-2/a/2.jpg": "a/2.jpg"}),
        ({}, 1, tuple(LOCAL), {}),  # folders that are called so by chance are no copies
        (LOCAL, 2, (), {}),
        ({**LOCAL, "a/2.jpg": 19}, 2, ("a/2.jpg",), {}),
        ({"a/1.jpg": 10, "a/2.jpg": 20, "copy-2/a/1.jpg": 10}, 2, (), {"copy-2/a/2.jpg": "a/2.jpg"}),
        ({**LOCAL, "other": 5}, 2, (), {}),
    ],
)
def test_what_has_the_right_name_and_size_stays(there, copies, puts, made):
    found = steps(LOCAL, there, copies)
    assert (found.puts, dict(found.copies)) == (puts, made)


def test_a_copy_that_differs_from_what_it_is_of_is_sent():
    found = steps({"1": 10, "copy-2/1": 11}, {"1": 10}, 2)
    assert (found.puts, dict(found.copies)) == (("copy-2/1",), {})
