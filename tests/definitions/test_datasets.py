import pytest
from pydantic import TypeAdapter, ValidationError

from definitions.datasets import Resolution

RESOLUTION = TypeAdapter(Resolution)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("496x387", "496x387"), (" 8 X 9 ", "8x9"), ("1x1", "1x1"), ("65500x65500", "65500x65500"), ("007x08", "7x8")],
)
def test_a_resolution_is_written_one_way(text, expected):
    assert RESOLUTION.validate_python(text) == expected


@pytest.mark.parametrize("text", ["0x9", "9x0", "65501x9", "9x65501", "9", "9x", "x9", "-9x9", "9x9x9", "9.5x9", ""])
def test_what_no_jpeg_can_have_is_refused(text):
    with pytest.raises(ValidationError, match="needs width x height in pixels, such as 496x387"):
        RESOLUTION.validate_python(text)
