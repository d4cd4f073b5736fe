"""How samples lie in files: one module a format."""

from .registry import FORMATS, SampleFormat, format_of, unread_note

__all__ = ["FORMATS", "SampleFormat", "format_of", "unread_note"]
