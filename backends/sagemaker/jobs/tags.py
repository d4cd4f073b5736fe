"""Tags of training jobs: Outrider's own, by which jobs are found and billed, and the user's. Pure."""

from __future__ import annotations

from backends.job_spec import JobSpec
from backends.naming import TAG_KEY
from backends.sagemaker.block import LONGEST_KEY, LONGEST_VALUE, MOST_TAGS, allowed
from backends.sagemaker.jobs.options import Options
from definitions.errors import UserError


def job_tags(job: JobSpec, options: Options) -> list[dict[str, str]]:
    """Return the tags of a job, with characters that AWS does not take replaced by `_`.

    Raises:
        UserError: too many, or a key that AWS keeps for itself.
    """
    tag, _, prefix = options.experiment.partition("/")
    own = {
        TAG_KEY: tag,
        "outrider:experiment": prefix or tag,
        "outrider:benchmark": options.benchmark,
        "outrider:trial": str(job.trial),
    }
    given = {allowed(key)[:LONGEST_KEY]: value for key, value in options.tags.items()}
    for key in given:
        if not key or key.lower().startswith("aws:"):
            raise UserError(
                f"tags: the key {key!r}", "AWS takes no empty keys, and keeps those that begin with aws:", "call it differently"
            )
    found = {**given, **own}
    if len(found) > MOST_TAGS:
        raise UserError(f"tags: {len(given)} are given", f"a job has at most {MOST_TAGS}, {len(own)} of them Outrider's", "leave some out")
    return [{"Key": key, "Value": allowed(value)[:LONGEST_VALUE]} for key, value in found.items()]
