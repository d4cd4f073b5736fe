"""Generations of a controller: each is claimed by a conditional write before its job is created, so that two successors are one."""

from __future__ import annotations

from dataclasses import dataclass

from backends.object_store import ObjectStore
from benchmarking.remote.layout import CONTROLLERS, generation_key, generation_of
from definitions import strict_json
from definitions.errors import UserError


@dataclass(frozen=True)
class Generation:
    """A generation of a controller, as its claim says it.

    Args:
        controller, generation: which; both count from 1.
        job: name of its training job, which whoever finds the claim may create.
        nonce: of the run.
        at: when it was claimed, UTC, by the clock of whoever did.
    """

    controller: int
    generation: int
    job: str
    nonce: str
    at: str


def claim_generation(store: ObjectStore, nonce: str, controller: int, generation: int, job: str, at: str) -> Generation:
    """Claim a generation and return the claim that stands, which may be somebody else's; both lead to the same job.

    Args:
        store: of the run.
        nonce: of the run.
        controller: from 1.
        generation: from 1.
        job: what its job is called, which follows from these.
        at: UTC.

    Raises:
        UserError: the claim that stands is of another run.
        OutriderError: the store refuses.
    """
    mine = Generation(controller, generation, job, nonce, at)
    key = generation_key(controller, generation)
    if store.create(key, _body(mine)):
        return mine
    there = store.get(key)
    if there is None:
        raise UserError(f"{store.uri}/{key}", "it was there and is gone", "somebody cleans this run: await that, then launch it again")
    found = _read(there.body, controller, generation, f"{store.uri}/{key}")
    if found.nonce != nonce:
        raise UserError(f"generation {generation} of controller {controller}", f"{store.uri} is of another run", "use another tag")
    return found


def generations(store: ObjectStore) -> dict[int, int]:
    """Return the last claimed generation of each controller of a run."""
    found: dict[int, int] = {}
    for one in store.list(CONTROLLERS):
        which = generation_of(one.key)
        if which is not None:
            found[which[0]] = max(which[1], found.get(which[0], 0))
    return found


def latest_generation(store: ObjectStore, controller: int) -> Generation | None:
    """Return the last claimed generation of a controller; None where none is.

    Raises:
        UserError: its claim is damaged.
        OutriderError: the store refuses.
    """
    last = generations(store).get(controller)
    return None if last is None else read_generation(store, controller, last)


def read_generation(store: ObjectStore, controller: int, generation: int) -> Generation | None:
    """Return the claim of a generation; None where there is none; raises as `latest_generation`."""
    key = generation_key(controller, generation)
    there = store.get(key)
    return None if there is None else _read(there.body, controller, generation, f"{store.uri}/{key}")


def _body(claim: Generation) -> bytes:
    # Which it is of its key says.
    return (strict_json.dumps({"job": claim.job, "nonce": claim.nonce, "at": claim.at}) + "\n").encode()


def _read(body: bytes, controller: int, generation: int, name: str) -> Generation:
    try:
        data = strict_json.loads(body.decode())
        return Generation(controller, generation, str(data["job"]), str(data["nonce"]), str(data.get("at", "")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{name} is damaged", str(error), "delete it, and launch the run again") from error
