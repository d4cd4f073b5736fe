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
from backends.local.job import LocalJob


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
        self._leaders: set[int] = set()
        self._foreign: set[int] = set()
        self._helpers: set[int] = set()

    def claim(self) -> None:
        """Become the parent of orphans (again, where another back-end of this process has been closed meanwhile)."""
        self._subreaper.claim()

    def joined(self, leader: int) -> None:
        """Note a job's first process."""
        self._leaders.add(leader)
        self._watchdog.start()

    def helped_by(self, pid: int) -> None:
        """Note a process that carries the token and is no job's."""
        self._helpers.add(pid)
        self._watchdog.start()

    def update_watchdog(self) -> None:
        """Tell the watchdog what runs; until then it would find it by its mark alone."""
        self._watchdog.update({*self._leaders})

    def left(self, job: LocalJob) -> None:
        """Note that nothing of the job runs any more."""
        if job.child is not None:
            self._leaders.discard(job.child.pid)
            if job.kill_at is not None:
                self.reap([job])

    def may_be_left(self, job: LocalJob) -> bool:
        """Return whether something of a job may have outlived its first process; cheap.

        What has is in its process group, or has lost its parent and become this process's child, or descends from such.
        """
        if job.child is None:
            return False
        if process_tree.send_group(job.child.pid, 0):
            return True
        return any(process_tree.carries(pid, job.mark.encode()) for pid in self._orphans())

    def living(self, job: LocalJob) -> list[process_tree.Process]:
        """Return all living processes of a job, and remember them with it; looks at every process of the machine."""
        found = process_tree.find(job.mark.encode(), () if job.child is None else (job.child.pid,), job.known.values())
        job.known.update((process.pid, process) for process in found)
        return [process for process in found if process.alive]

    def look(self, job: LocalJob) -> list[process_tree.Process]:
        """Return the living processes of a job that can be found cheaply, and remember them with the job."""
        if job.child is None:
            return []
        roots = [job.child.pid, *(pid for pid in self._orphans() if process_tree.carries(pid, job.mark.encode()))]
        # Through parents from the job's first process and from its adopted orphans; then those seen before that neither way finds.
        found = {process.pid: process for root in roots for process in process_tree.descendants(root)}
        for process in job.known.values():
            now = None if process.pid in found else process_tree.read_process(process.pid)
            if now is not None and now.start_ticks == process.start_ticks:
                found[now.pid] = now
        job.known = found
        return [process for process in found.values() if process.alive]

    def signal(self, job: LocalJob, number: signal.Signals) -> bool:
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

    def reap(self, jobs: Iterable[LocalJob]) -> None:
        """Reap the orphans of jobs that have ended, so that they do not fill the table of processes."""
        sessions = {job.child.pid for job in jobs if job.child is not None}
        known = {(process.pid, process.start_ticks) for job in jobs for process in job.known.values()}
        for pid in self._orphans():
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
        found = []
        for pid in now:
            if pid in self._leaders or pid in self._foreign or pid in self._helpers or pid == self._watchdog.pid:
                continue
            process = process_tree.read_process(pid)
            # A zombie's environment is empty, so one counts as possibly a job's until `reap` has compared it with what is known.
            if process is not None and process.alive and not process_tree.carries(pid, self._token):
                self._foreign.add(pid)
            elif process is not None:
                found.append(pid)
        return found
