"""When each worker did what: start-up, run and idle time by job, and instances that were kept warm between jobs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.archive.controllers import PastGeneration
from benchmarking.figures.controllers import controllers_panel
from benchmarking.figures.data import Figure, PlotAxis, Span, SpanPanel
from benchmarking.figures.details import DetailedExperiment, JobDetail
from benchmarking.figures.short_names import changed, short_names

START_UP, RUN, WARM, IDLE = "start-up", "run", "kept warm", "idle"
KINDS = (START_UP, RUN, WARM, IDLE)
MOST_PANELS = 6
MOST_JOBS = 1_000


def time_line_figure(experiments: Sequence[DetailedExperiment], controllers: Sequence[PastGeneration] = ()) -> Figure:
    """Return a panel for one experiment of each benchmark and method, that of its first seed; before them that of a run's controllers.

    Args:
        experiments: (n,) in any order.
        controllers: generations of the controllers that ran them in the cloud.
    """
    short = short_names([name for one in experiments for name in (one.run.benchmark, one.run.method)])
    chosen: dict[tuple[str, str], DetailedExperiment] = {}
    for one in sorted(experiments, key=lambda one: one.run.number):
        if one.jobs:
            chosen.setdefault((one.run.benchmark, one.run.method), one)
    panels, notes = [], []
    for one in [*chosen.values()][:MOST_PANELS]:
        title = f"{short[one.run.benchmark]}: {short[one.run.method]} seed {one.run.number}"
        lanes, spans = lanes_and_spans(one)
        panels.append(
            SpanPanel(title, tuple(f"worker {lane + 1}" for lane in range(lanes)), PlotAxis("time since the start", "s"), KINDS, spans)
        )
        if len(one.jobs) > MOST_JOBS:
            notes.append(f"{title}: the first {MOST_JOBS} of {len(one.jobs)} jobs.")
    of_controllers, cost = controllers_panel(controllers)
    if not panels:
        notes.append("No job was started.")
    if len(chosen) > MOST_PANELS:
        notes.append(f"The first {MOST_PANELS} of {len(chosen)} benchmarks and methods.")
    notes.append("Start-up: from the submission of a job until its script has begun to work, as far as the script says.")
    if of_controllers is not None:
        panels.insert(0, of_controllers)
        notes.insert(0, cost)
    return Figure("time_line", "Time line of workers", tuple(panels), tuple(notes), changed(short))


def lanes_and_spans(one: DetailedExperiment) -> tuple[int, tuple[Span, ...]]:
    """Return how many workers an experiment had at once, and what each did.

    A job gets the lane of the instances that it was given, else the first that is free.
    """
    jobs = sorted(one.jobs, key=lambda job: job.submitted_s)[:MOST_JOBS]
    reused = {kept.reused_by: kept for kept in one.kept if kept.reused_by}
    kept_until = {kept.job: one.duration_s if kept.until_s is None else kept.until_s for kept in one.kept}
    lane_of: dict[str, int] = {}
    free_at: list[float] = []
    spans: list[Span] = []
    for job in jobs:
        before = lane_of.get(reused[job.job].job) if job.job in reused else None
        # One that waits for the instances of another may have been submitted before these were free.
        free = [lane for lane, at in enumerate(free_at) if at <= job.submitted_s + 1e-9]
        lane = before if before is not None else min(free, key=lambda lane: (-free_at[lane], lane)) if free else len(free_at)
        if lane == len(free_at):
            free_at.append(0.0)
        lane_of[job.job] = lane
        mine = _spans_of(job, lane, one.duration_s, max(job.submitted_s, free_at[lane]) if before is not None else job.submitted_s)
        spans += mine
        end = mine[-1].end if mine else job.submitted_s
        until = kept_until.get(job.job)
        if until is not None and until > end:
            kind = next(kept.instance_type for kept in one.kept if kept.job == job.job)
            spans.append(Span(lane, end, until, WARM, f"{kind} kept after trial {job.trial}"))
        # Its worker is free for the next trial while the instances wait.
        free_at[lane] = max(free_at[lane], end)
    return len(free_at), tuple(sorted([*_without_overlap(spans), *_idle(spans, len(free_at), one.duration_s)], key=_order))


def _spans_of(job: JobDetail, lane: int, end_of_all: float, begin: float) -> list[Span]:
    end = max(begin, job.ended_s if job.ended_s is not None else end_of_all)
    text = f"trial {job.trial}" + (f" attempt {job.attempt}" if job.attempt > 1 else "") + (f", {job.status}" if job.status else "")
    text += f" ({job.cause})" if job.cause else ""
    if job.started_s is None:
        # Refused, or ended before its script ran.
        return [Span(lane, begin, end, START_UP, f"{text}, never ran")]
    works = min(end, max(begin, job.started_s) + job.phases_s.get("startup", 0.0))
    warm = ", warm" if job.is_warm else ""
    return [Span(lane, begin, works, START_UP, text + warm), Span(lane, works, end, RUN, text)]


def _without_overlap(spans: Sequence[Span]) -> list[Span]:
    """Return the spans, kept instances ending where the next job on their lane begins."""
    begins = sorted((span.lane, span.begin) for span in spans if span.kind != WARM)
    found = []
    for span in spans:
        if span.kind == WARM:
            later = [begin for lane, begin in begins if lane == span.lane and begin >= span.begin]
            span = Span(span.lane, span.begin, min([span.end, *later]), span.kind, span.text)
        if span.end > span.begin:
            found.append(span)
    return found


def _idle(spans: Sequence[Span], lanes: int, end: float) -> list[Span]:
    """Return the stretches in which a lane did nothing, from the start to the experiment's end."""
    found = []
    for lane in range(lanes):
        at = 0.0
        for span in sorted((span for span in spans if span.lane == lane), key=_order):
            if span.begin > at:
                found.append(Span(lane, at, span.begin, IDLE))
            at = max(at, span.end)
        if end > at:
            found.append(Span(lane, at, end, IDLE))
    return found


def _order(span: Span) -> tuple[int, float, float]:
    return (span.lane, span.begin, span.end)
