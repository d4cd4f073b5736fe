"""What is known here of the controllers of a launched run, `controllers.json` beside its results: when they were, and what each cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from definitions import strict_json
from definitions.files import write_atomically

CONTROLLERS_FILE = "controllers.json"
_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class PastGeneration:
    """One generation of a controller, as far as it had come when the run was collected.

    Args:
        controller, generation: which; both count from 1.
        job: name of its training job.
        began_at, ended_at: in seconds since 1970 by the service's clock; None for what is not known, or is yet to come.
        usd: dollars that it cost; None where that is not known.
        is_billed: whether that is by the service's billable seconds.
        is_emulated: whether the dollars are an emulator's.
    """

    controller: int
    generation: int
    job: str
    began_at: float | None = None
    ended_at: float | None = None
    usd: float | None = None
    is_billed: bool = False
    is_emulated: bool = False


def write_generations(tag_folder: Path, generations: Sequence[PastGeneration]) -> None:
    """Write what is known of the controllers of a run into its folder; raises `UserError` where that cannot be written."""
    document = {"schema_version": _SCHEMA_VERSION, "generations": [asdict(one) for one in generations]}
    write_atomically(tag_folder / CONTROLLERS_FILE, strict_json.dumps(document) + "\n")


def read_generations(tag_folder: Path) -> tuple[PastGeneration, ...]:
    """Return what is known of the controllers of a run; empty where it was not launched, or where the file cannot be read."""
    try:
        document = strict_json.loads((tag_folder / CONTROLLERS_FILE).read_text(encoding="utf-8"))
        known = PastGeneration.__dataclass_fields__
        return tuple(PastGeneration(**{key: one[key] for key in one if key in known}) for one in document["generations"])
    except (OSError, ValueError, LookupError, TypeError):
        return ()
