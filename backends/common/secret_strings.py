"""Which strings look like secrets: by the name they are kept under, by how services begin theirs, or as they look drawn at random. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter

_NAME = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|access[_-]?key|private[_-]?key|auth|token|secret|passw(?:or)?d|passphrase|credentials?|pat)s?(?:$|[_-])",
    re.I,
)
_KNOWN = re.compile(
    r"(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|hf_\w{20,}|glpat-\S{20,}|sk-\S{20,}|xox[a-z]-\S{10,}|eyJ\w+\.\w+\."
)
_SETTING = re.compile(
    r"(?:^|[\s{,\"'])[\w.-]*(?:secret[_-]?access[_-]?key|secret[_-]?key|client[_-]?secret|session[_-]?token|access[_-]?token|auth[_-]?token"
    r"|hf[_-]token|api[_-]?key|passw(?:or)?d)[\"']?[ \t]*[=:][ \t]*[\"']?([^\s\"',}#;]+)",
    re.I | re.M,
)
"""Narrower than names of variables: `pad_token` and the like are words of a tokenizer."""
_TOKEN = re.compile(r"[A-Za-z0-9+/_=.~-]+")
_PLAIN = re.compile(r"(?:[a-z][a-z0-9+.-]*://|arn:|[./~]|[\d.+-]+$|(?:true|false|none|null|yes|no)$)", re.I)
_SHORTEST, _SHORTEST_NAMED, _LONGEST_WORD = 20, 8, 16
_LEAST_BITS, _LEAST_BITS_HEX = 3.7, 3.0
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")


def looks_secret(name: str, value: str) -> bool:
    """Return whether a value that is kept under a name may be a secret.

    Args:
        name: e.g. of an environment variable.
        value: its whole value; what is an address, a path or a number is none.
    """
    if _KNOWN.match(value):
        return True
    if _PLAIN.match(value) or not _TOKEN.fullmatch(value):
        # A password may have any characters.
        return _NAME.search(name) is not None and len(value) >= _SHORTEST_NAMED and not _PLAIN.match(value) and " " not in value
    if _NAME.search(name):
        return len(value) >= _SHORTEST_NAMED
    if _HEX.fullmatch(value):
        return bits_per_character(value) >= _LEAST_BITS_HEX
    if max(len(run) for run in re.split(r"[^A-Za-z0-9]", value)) < _LONGEST_WORD:
        return False
    kinds = sum(re.search(kind, value) is not None for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return len(value) >= _SHORTEST and kinds == 3 and bits_per_character(value) >= _LEAST_BITS


def holds_secret_setting(text: str) -> bool:
    """Return whether a file of settings gives a secret a value, which a reference such as `${X}` is not."""
    values = (found[1] for found in _SETTING.finditer(text))
    return any(value[0] not in "$<{%!&*[" and looks_secret("password", value) for value in values)


def bits_per_character(text: str) -> float:
    """Return the entropy of a text's characters as they occur in it (Shannon 1948)."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
