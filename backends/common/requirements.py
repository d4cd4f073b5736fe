"""Which requirements of a source are not satisfied in a container. Standard library only, Python 3.8 or later."""

from __future__ import annotations

import sys

# Types are named in annotations only: a job must not pay for importing `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def unsatisfied(lines: Iterable[str]) -> list[str]:
    """Return the requirements that are not known to be satisfied, options and addresses among them."""
    found = []
    for line in lines:
        text = line.split(" #")[0].strip()
        if text and not text.startswith("#") and not _is_satisfied(text):
            found.append(text)
    return found


def _is_satisfied(text: str) -> bool:
    if text.startswith("-") or "://" in text or "[" in text.split(";")[0] or text.endswith("\\"):
        return False  # for pip to judge
    from importlib import metadata

    try:
        if all(letter.isalnum() or letter in "._-" for letter in text):
            metadata.version(text)
            return True
        # Pins are told without a package that reads versions, which not every environment has.
        name, _, version = text.partition("==")
        if version and all(letter.isalnum() or letter in "._-" for letter in name + version) and metadata.version(name) == version:
            return True
        try:
            from packaging.requirements import Requirement
        except ImportError:
            from pip._vendor.packaging.requirements import Requirement  # type: ignore[assignment,import-untyped,unused-ignore]
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate():
            return True
        return bool(wanted.specifier.contains(metadata.version(wanted.name), prereleases=True))
    except (metadata.PackageNotFoundError, ImportError, ValueError):
        return False


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8-sig") as file:  # noqa: PTH123 (pathlib is slow to import)
        missing = unsatisfied(file)
    sys.stdout.write(", ".join(missing) + "\n")
    sys.exit(1 if missing else 0)
