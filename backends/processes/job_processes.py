"""All processes of a controller's jobs: which there are, orphans included, and ending them.

The controller may be a user's own program with children of its own, so nothing is signalled or reaped that is not known to be a job's.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable

from backends.common import process_tree
from backends.common.subreaper import Subreaper
from backends.common.watchdog import Watchdog
from backends.processes.job import ProcessJob


class JobProcesses:
    """Processes of one controller's jobs.

    Args:
        token: what the marks of all the jobs begin with.
    """

    def __init__(self, token: str) -> None:
        self._watchdog = Watchdog(token)
        self._subreaper = Subreaper()
        self._subreaper.claim()
        self._token = token.encode()
        self._leaders: dict[int, tuple[str, int]] = {}
        self._strays: dict[int, tuple[process_tree.Process, set[str]]] = {}
        self._foreign: set[int] = set()
        self._helpers: set[int] = set()

    def claim(self) -> None:
        """Become the parent of orphans (again, where another back-end of this process has been closed meanwhile)."""
        self._subreaper.claim()

    def joined(self, job: ProcessJob) -> int:
        """Note a job whose first process has just started, and return when that was, in ticks since boot; 0 where nobody tells."""
        start_ticks = 0
        if job.child is not None:
            leader = process_tree.read_process(job.child.pid)
            start_ticks = leader.start_ticks if leader is not None else 0
            self._leaders[job.child.pid] = job.mark, start_ticks
        self._watchdog.start()
        return start_ticks

    def helped_by(self, pid: int) -> None:
        """Note a process that carries the token and is no job's."""
        self._helpers.add(pid)
        self._watchdog.start()

    def update_watchdog(self) -> None:
        """Tell the watchdog what runs; until then it would find it by its mark alone."""
        self._watchdog.update({*self._leaders})

    def left(self, job: ProcessJob) -> None:
        """Note that nothing of the job runs any more."""
        if job.child is not None:
            self._leaders.pop(job.child.pid, None)
            if job.kill_at is not None:
                self.reap([job])
            for _, candidates in self._strays.values():
                candidates.discard(job.mark)

    def may_be_left(self, job: ProcessJob) -> bool:
        """Return whether something of a job may have outlived its first process; cheap.

        What has is in its process group, or has lost its parent and become this process's child, or descends from such.
        """
        if job.child is None:
            return False
        if process_tree.send_group(job.child.pid, 0):
            return True
        if any(self._is_of(job, pid) for pid in self._orphans()):
            return True
        # A child in a session of its own that hides its environment is known if it was seen while its parent lived.
        seen = ((process, process_tree.read_process(process.pid)) for process in job.known.values() if process.pid != job.child.pid)
        return any(now is not None and now.alive and now.start_ticks == process.start_ticks for process, now in seen)

    def living(self, job: ProcessJob) -> list[process_tree.Process]:
        """Return all living processes of a job, and remember them with it; looks at every process of the machine."""
        strays = [self._strays[pid][0] for pid in self._orphans() if pid in self._strays and self._is_of(job, pid)]
        sessions = () if job.child is None else (job.child.pid,)
        found = process_tree.find(job.mark.encode(), sessions, [*job.known.values(), *strays])
        job.known.update((process.pid, process) for process in found)
        return [process for process in found if process.alive]

    def look(self, job: ProcessJob) -> list[process_tree.Process]:
        """Return the living processes of a job that can be found cheaply, and remember them with the job."""
        if job.child is None:
            return []
        roots = [job.child.pid, *(pid for pid in self._orphans() if self._is_of(job, pid))]
        # Through parents from the job's first process and from its adopted orphans; then those seen before that neither way finds.
        found = {process.pid: process for root in roots for process in process_tree.descendants(root)}
        for process in job.known.values():
            now = None if process.pid in found else process_tree.read_process(process.pid)
            if now is not None and now.start_ticks == process.start_ticks:
                found[now.pid] = now
        job.known = found
        return [process for process in found.values() if process.alive]

    def signal(self, job: ProcessJob, number: signal.Signals) -> bool:
        """Send a signal to all processes of a job; return whether there were any."""
        # First looked for, then signalled: once a parent has ended, a child that hides its environment is not known as its child.
        left = self.living(job)
        # The group only while its leader is not reaped, as its number may be another's afterwards; others one by one.
        grouped = job.child.pid if job.running and job.child is not None else None
        if grouped is not None:
            process_tree.send_group(grouped, number)
        for process in left:
            if process.group != grouped:
                process_tree.send(process, number)
        return bool(left)

    def reap(self, jobs: Iterable[ProcessJob]) -> None:
        """Reap the orphans of jobs that have ended, so that they do not fill the table of processes."""
        sessions = {job.child.pid for job in jobs if job.child is not None}
        known = {(process.pid, process.start_ticks) for job in jobs for process in job.known.values()}
        # All children, not only those that count as orphans: one met while it was exiting has no environment left and counts as another's.
        for pid in process_tree.children(os.getpid()):
            process = process_tree.read_process(pid)
            # First processes are reaped where their exit code is read, never here.
            if process is None or process.alive or pid in self._leaders:
                continue
            if process.session in sessions or (pid, process.start_ticks) in known:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def close(self, survivors: bool) -> None:
        """End the watchdog, unless something has survived that it should go on trying to kill; no longer adopt orphans."""
        self._watchdog.close(goodbye=not survivors)
        self._subreaper.restore()

    def _orphans(self) -> list[int]:
        """Return the children of this process that may be orphans of a job."""
        now = process_tree.children(os.getpid())
        # A number that is gone may come back as a job's orphan.
        self._foreign.intersection_update(now)
        self._strays = {pid: stray for pid, stray in self._strays.items() if pid in now}
        found = []
        for pid in now:
            if pid in self._leaders or pid in self._foreign or pid in self._helpers or pid == self._watchdog.pid:
                continue
            process = process_tree.read_process(pid)
            # A zombie's environment is empty, so one counts as possibly a job's until `reap` has compared it with what is known.
            if process is None:
                continue
            is_known = pid in self._strays and self._strays[pid][0].start_ticks == process.start_ticks
            if is_known or not process.alive or process_tree.carries(pid, self._token) or self._is_stray(process):
                found.append(pid)
            else:
                self._foreign.add(pid)
        return found

    def _is_stray(self, process: process_tree.Process) -> bool:
        """Return whether a child of this process that hides its environment is an orphan of a job; if so, note whose it can be.

        One in a session that is neither its own nor this process's was not started by this process: its parent has ended and left it.
        Of jobs that have been running since before it began, the one left over when the others have ended is its job.
        """
        if process.session in (process.pid, os.getsid(0)):
            return False
        candidates = {mark for mark, start_ticks in self._leaders.values() if start_ticks <= process.start_ticks}
        if candidates:
            self._strays[process.pid] = process, candidates
        return bool(candidates)

    def _is_of(self, job: ProcessJob, pid: int) -> bool:
        """Return whether an orphan is a job's: it carries its mark, or can be no other's."""
        stray = self._strays.get(pid)
        if stray is None:
            return process_tree.carries(pid, job.mark.encode())
        known = job.known.get(stray[0].session)
        return stray[1] == {job.mark} or (known is not None and known.start_ticks <= stray[0].start_ticks)
