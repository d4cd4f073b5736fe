"""The open jobs of one experiment, and what becomes of them by what their nodes say."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path

from backends.events import Closed, Ended, Event, Noted, Started
from backends.failures import Cause, Outcome
from backends.processes.node_messages import NodeBatch
from backends.ray.held import HeldEnds
from backends.ray.job import RayJob
from backends.ray.links import NodeLinks
from backends.ray.nodes import NodeGone, is_disk_full
from backends.ray.parts import part_of
from backends.ray.slots import SlotBook


class RayJobs:
    """Takes in what happens on nodes, and tells it as events.

    Args:
        links: to the nodes.
        slots: that jobs give back.
        now: the back-end's clock.
        logs: folder of logs, for what nodes send.
        holds: whether an end that somebody outside made may be that of its node.
        notes: whether other controllers may take jobs over, so that what they have to know is noted.
    """

    def __init__(
        self, links: NodeLinks, slots: SlotBook, now: Callable[[], float], logs: Path, *, holds: bool, notes: bool = False
    ) -> None:
        self._notes = notes
        self._kept_back: dict[str, tuple[str, int]] = {}
        self._links, self._slots, self._now, self._logs = links, slots, now, logs
        self._holds, self._held = holds, HeldEnds()
        self.open: dict[str, RayJob] = {}
        """By name."""
        self.events: list[Event] = []
        """Those that nobody was told of yet."""
        self._heard: dict[str, int] = {}
        self.survivors: dict[str, tuple[str, ...]] = {}
        """By node that is over the parts of jobs that could not be ended there."""
        self._answered_at: dict[str, float] = {}

    def take(self, node: str, number: int, batch: NodeBatch) -> None:
        """Take in a batch of a node."""
        link = self._links.get(node)
        if link is None:
            return  # it is lost already
        now = self._now()
        link.time.heard(batch.now, now)
        self._answered_at[node] = now
        for piece in batch.logs:
            job = self.open.get(part_of(piece.job)[0])
            if job is not None:
                job.write(piece, self._logs)
        freed: list[RayJob] = []
        for event in batch.events:
            name, rank = part_of(event.job)
            job = self.open.get(name)
            if job is None:
                if not name:
                    self.events.append(Noted("", now, text=getattr(event, "text", "")))
                continue
            here = job.here(event, link.time, now)
            if not (isinstance(here, Closed) and self._holds and self._held.holds(node, rank, here, now)):
                self._tell(job, rank, here)
                freed = [*freed, job] if isinstance(event, Ended) else freed
            else:
                self._kept_back[event.job] = node, number
                freed = [one for one in freed if one is not job]  # nothing is started on a node that may be going
        for job in freed:
            if job.ended:
                self._free(job)
        if batch.survivors is not None:
            self.survivors[node] = batch.survivors
        self._heard[node] = number

    def settled(self) -> dict[str, int]:
        """Return by node up to which batch nothing is needed again, as all that it says is told."""
        found = dict(self._heard)
        for node, number in self._kept_back.values():
            if node in found:
                found[node] = min(found[node], number - 1)
        return found

    def answered(self, node: str) -> None:
        """Note that a node is there, and has nothing to say."""
        self._answered_at[node] = self._now()

    def lose(self, gone: NodeGone, host: str) -> None:
        """Close the jobs of a node that is no more.

        Args:
            gone: which, and why.
            host: its name where only what Outrider has there is gone; empty where the node is.
        """
        self._links.lose(gone.node)
        self._heard.pop(gone.node, None)
        self.survivors.setdefault(gone.node, ())
        self._held.forget(gone.node)
        self._kept_back = {name: place for name, place in self._kept_back.items() if place[0] != gone.node}
        self._slots.lose(gone.node)
        cause = Cause.DISK_FULL if is_disk_full(gone.why) else Cause.LOST
        what = f"its node {host or gone.node[:12]} {'could not run it' if host else 'died'}: {gone.why}"
        for job in [*self.open.values()]:
            for rank in job.ranks_on(gone.node):
                if rank in job.parts.open_ranks:
                    self.end(job, Outcome.FAILED, cause, what, rank)

    def end(self, job: RayJob, outcome: Outcome, cause: Cause, message: str, rank: int = 0) -> None:
        """End a part of a job of which its node will say nothing more."""
        at = max(self._now(), job.last_at)
        if not job.parts.has_ended(rank):
            self._tell(job, rank, Ended(job.spec.name, at))
        began_at = job.began_at
        billable_s = 0.0 if began_at is None else at - began_at
        ended_at = None if began_at is None else at
        self._tell(job, rank, Closed(job.spec.name, at, outcome, cause, message, began_at, ended_at, billable_s))

    def stop(self, job: RayJob, cause: Cause) -> None:
        """Have the parts of a job ended on their nodes; those that were not started yet never are."""
        unsent, job.unsent = job.unsent, ()
        self._links.stop(job, cause)
        for rank in unsent:
            self.end(job, Outcome.STOPPED, cause, "stopped before it started", rank)

    def tidy(self, now: float) -> float | None:
        """Tell the ends that their nodes have outlived, and return when to look again; None where nothing is kept back."""
        for one in self._held.due(self._answered_at):
            job = self.open.get(part_of(one.closed.job)[0])
            self._kept_back.pop(one.closed.job, None)
            if job is not None:
                self._tell(job, one.rank, one.closed)
        return self._held.next_look(now)

    def _tell(self, job: RayJob, rank: int, event: Event) -> None:
        """Take in what happened to a part of a job, and let it be known where it is the job's."""
        if job.is_known(event):
            return
        found = job.parts.take(rank, event)
        if found is None and self._notes and isinstance(event, (Ended, Closed)):
            self.events.append(Noted(job.spec.name, event.at, memo=job.parts.memo(rank)))
        if found is not None:
            self.events.append(dataclasses.replace(found, job=job.spec.name))
            if isinstance(found, Ended):
                job.ended = True
            elif isinstance(found, Closed):
                job.close()
                self._free(job)
                del self.open[job.spec.name]
                return
        if isinstance(event, Started) and rank == 0 and job.unsent:
            self._links.start_others(job)
        if job.parts.is_doomed and not job.is_ending:
            job.is_ending = True
            self.stop(job, Cause.INTERRUPTED)

    def left_on(self, nodes: Collection[str]) -> list[str]:
        """Return the jobs of which a part that has not ended is on one of these nodes."""
        return [
            name
            for name, job in self.open.items()
            if any(rank in job.parts.open_ranks and not job.parts.has_ended(rank) for node in nodes for rank in job.ranks_on(node))
        ]

    def _free(self, job: RayJob) -> None:
        slot, job.kept = job.kept, None
        # Of a job that was taken over, the next one may have got the room before the earlier controller had recorded its end.
        if all(other.kept is not slot for other in self.open.values()):
            self._slots.free(slot, self._now())
