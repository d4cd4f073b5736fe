"""Deletes the endpoints of a tag from anywhere, with their configurations and models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backends.naming import TAG_KEY, tag_mark
from backends.sagemaker.admin.stop_jobs import StoppedJob, StopResult
from backends.sagemaker.admin.tagged_jobs import tags_of
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, FailureKind, failure_of

_PAGE = 100
_DELETABLE = ("InService", "Failed", "OutOfService", "UpdateRollbackFailed")
"""Statuses in which the service takes an order to delete; in the others it is about to come into one of these."""
_PARTS = (("EndpointConfig", "endpoint configuration"), ("Model", "model"))


@dataclass
class _Found:
    arn: str
    before: str
    now: str
    ours: bool | None = None
    asked: bool = False
    problem: CallFailure | None = None


class EndpointStopper:
    """The endpoints of one tag, and what they are made of.

    Names say which may belong to it, and the tag `outrider:tag` says which do; one whose tags cannot be read is left alone.

    Args:
        clients: of the region to look in.
        tag: of the experiments.
        prefixes: what the names begin with that are meant; None for all of the tag.
        page_gap_s: seconds between two list calls.
        monotonic: a clock in seconds; `sleep`: waits so many of them.
        gone: told of each endpoint of the tag when its deletion was ordered, and again once it is gone, whoever ordered it.
    """

    def __init__(
        self,
        clients: Clients,
        tag: str,
        prefixes: tuple[str, ...] | None = None,
        page_gap_s: float = 0.0,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        gone: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._clients, self._tag, self._prefixes, self._page_gap_s = clients, tag, prefixes, page_gap_s
        self._monotonic, self._sleep, self._gone = monotonic, sleep, gone
        self._found: dict[str, _Found] = {}

    def running(self) -> list[str]:
        """Return the names of the endpoints that are there, also of those whose tags cannot be read; raises as `stop`."""
        self._refresh()
        return [name for name, one in self._found.items() if one.now and one.ours is not False]

    def stop(
        self, wait: bool = True, longest_s: float = 900.0, poll_s: float = 5.0, say: Callable[[str], None] = lambda line: None
    ) -> StopResult:
        """Delete them all, then the configurations and models of the tag.

        Args:
            wait: until they are gone: one that is still being created can only be deleted afterwards.
            longest_s: most seconds to wait.
            poll_s: seconds between two looks.
            say: takes what is waited for.

        Raises:
            ClientError, BotoCoreError: AWS refuses the listing, so that nothing is known.
        """
        end, said, trouble = self._monotonic() + longest_s, "", ""
        while True:
            self._refresh()
            for name, one in self._found.items():
                if one.ours and one.now in _DELETABLE and not one.asked and not _is_refused(one):
                    self._delete(name, one)
            waited = [name for name, one in self._found.items() if one.ours and one.now and not _is_refused(one)]
            if not wait or not waited:
                break
            if self._monotonic() + poll_s > end:
                trouble = f"not all endpoints were gone after {longest_s:.0f} s"
                break
            line = f"waiting for {len(waited)} endpoint{'s' * (len(waited) > 1)} to be gone"
            if line != said:
                say(line)
            said = line
            self._sleep(poll_s)
        rows = [_row(name, one, wait) for name, one in self._found.items() if one.ours is not False]
        return StopResult((*rows, *self._clear_parts()), trouble)

    def parts(self) -> list[tuple[str, str]]:
        """Return the configurations and models of the tag, as what they are and their names; raises as `stop`."""
        found = []
        for operation, what in _PARTS:
            for one in self._listed(operation):
                if self._is_ours(str(one[f"{operation}Arn"])):
                    found.append((what, str(one[f"{operation}Name"])))
        return found

    def _clear_parts(self) -> Iterator[StoppedJob]:
        """Delete the configurations and models of endpoints that are gone or going; yield what could not be."""
        kept = {name for name, one in self._found.items() if one.now and not one.asked}
        for what, name in self.parts():
            if name in kept:
                continue
            operation = next(operation for operation, word in _PARTS if word == what)
            method = "delete_endpoint_config" if operation == "EndpointConfig" else "delete_model"
            problem = self._try(getattr(self._clients.get("sagemaker"), method), **{f"{operation}Name": name})
            if problem is not None and problem.kind is not FailureKind.MISSING:
                yield StoppedJob(f"{what} {name}", "there", "there", f"could not be deleted: {problem}", False)

    def _refresh(self) -> None:
        there = {str(one["EndpointName"]): one for one in self._listed("Endpoint")}
        for name, one in self._found.items():
            if one.ours and one.now and name not in there:
                self._gone(name)
            one.now = str(there[name]["EndpointStatus"]) if name in there else ""
        for name, summary in there.items():
            if name not in self._found:
                status = str(summary["EndpointStatus"])
                self._found[name] = _Found(str(summary["EndpointArn"]), status, status)
            found = self._found[name]
            if found.ours is None:
                try:
                    found.ours, found.problem = self._is_ours(found.arn), None
                except Exception as error:
                    found.problem = failure_of(error)
                    if found.problem is None:
                        raise

    def _listed(self, operation: str) -> Iterator[Mapping[str, Any]]:
        request: dict[str, Any] = {"NameContains": tag_mark(self._tag), "MaxResults": _PAGE}
        client = self._clients.get("sagemaker")
        method = {"Endpoint": "list_endpoints", "EndpointConfig": "list_endpoint_configs", "Model": "list_models"}[operation]
        while True:
            page = getattr(client, method)(**request)
            for one in page[f"{operation}s"]:
                if self._prefixes is None or str(one[f"{operation}Name"]).startswith(self._prefixes):
                    yield one
            if not page.get("NextToken"):
                return
            request["NextToken"] = page["NextToken"]
            self._sleep(self._page_gap_s)

    def _is_ours(self, arn: str) -> bool:
        try:
            return tags_of(self._clients, arn).get(TAG_KEY) == self._tag
        except Exception as error:
            failure = failure_of(error)
            if failure is None or failure.kind is not FailureKind.MISSING:
                raise
            return False  # it went meanwhile

    def _delete(self, name: str, one: _Found) -> None:
        one.problem = self._try(self._clients.get("sagemaker").delete_endpoint, EndpointName=name)
        one.asked = one.problem is None
        if one.asked:
            self._gone(name)
        if one.problem is not None and one.problem.kind is FailureKind.MISSING:
            one.now, one.problem = "", None

    def _try(self, call: Callable[..., Any], **arguments: Any) -> CallFailure | None:
        try:
            call(**arguments)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return failure
        return None


def _is_refused(one: _Found) -> bool:
    return one.problem is not None and one.problem.kind in (FailureKind.DENIED, FailureKind.CREDENTIALS)


def _row(name: str, one: _Found, waited: bool) -> StoppedJob:
    what, now = f"endpoint {name}", one.now or "gone"
    if one.ours is None:
        return StoppedJob(what, one.before, now, f"left alone, as its tags cannot be read: {one.problem}", True)
    if one.now and one.problem is not None:
        return StoppedJob(what, one.before, now, f"could not be deleted: {one.problem}", True)
    if not one.now:
        return StoppedJob(what, one.before, now, "deleted" if one.asked else "went by itself", False)
    done = "asked to be deleted" if one.asked else "cannot be deleted while it is being created; run stop again"
    return StoppedJob(what, one.before, now, done, waited or not one.asked)
