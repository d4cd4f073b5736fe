"""The questions that only an account can answer, each with what is assumed meanwhile and why."""

from __future__ import annotations

from backends.emulator.smoke import jobs, requests
from backends.emulator.smoke.probe import Probe

_MODEL = "botocore's model of the service"
_GUIDE = "the developer guide"
_REPORTS = "public reports of users"

PROBES = (
    Probe(
        "refusals",
        "Which code and which words does a refused request get?",
        "ValidationException with the limits' own sentences; `Requested resource not found.` for an unknown job",
        f"{_MODEL} for the limits, {_REPORTS} for the words",
        requests.refusals,
    ),
    Probe(
        "conditional writes",
        "What does S3 answer a write whose condition does not hold?",
        "412 PreconditionFailed; 404 where an object is to be replaced that is not there",
        "the user guide of S3 on conditional requests",
        requests.conditional_writes,
    ),
    Probe(
        "quotas and prices",
        "Which fields do quotas have, how many products has an instance type, and in what are they priced?",
        "one product a region and instance type, priced by the hour",
        f"{_MODEL}, the public price lists",
        requests.quotas_and_prices,
    ),
    Probe(
        "completed",
        "What does a job that ends well show, and in which steps does it come there?",
        "Starting, Downloading, Training, Uploading, Completed; billed for the time from Downloading to the end",
        _GUIDE,
        jobs.completed,
        120,
    ),
    Probe(
        "failed",
        "What is the reason of a job that fails, with and without a failure file, and is its output kept?",
        "AlgorithmError with the file's text and the exit code; output is uploaded, the model is not",
        f"{_GUIDE} for the file, {_REPORTS} for the words",
        jobs.failed,
        360,
    ),
    Probe(
        "stopped",
        "Is a stop answered at once, and is what was done until then kept?",
        "Stopping at once, TERM, at most 120 s, Stopped; the model is uploaded",
        _GUIDE,
        jobs.stopped,
        180,
    ),
    Probe(
        "over time",
        "What becomes of a job that runs into MaxRuntimeInSeconds and does not mind TERM?",
        "TERM at the limit, KILL 120 s later, Stopped with MaxRuntimeExceeded, model uploaded",
        _GUIDE,
        jobs.over_time,
        300,
    ),
    Probe(
        "log bytes",
        "How does the log show control characters, empty lines, bytes that are no UTF-8, and very long lines?",
        "control characters as `#011`, an empty line as a blank, other bytes replaced, lines cut at 256 KiB",
        _REPORTS,
        jobs.log_bytes,
        120,
    ),
    Probe(
        "container",
        "Which variables and folders does a script find that has no toolkit around it?",
        "/opt/ml with its configuration; `SM_*` as the toolkit sets them, TRAINING_JOB_NAME and TRAINING_JOB_ARN",
        f"{_GUIDE}, the training toolkit",
        jobs.container,
        120,
    ),
    Probe(
        "channels",
        "How do the data look in the modes File, FastFile and Pipe?",
        "plain files in the first two, a named pipe for each epoch with all objects one after the other in the third",
        _GUIDE,
        jobs.channels,
        120,
    ),
    Probe(
        "checkpoints",
        "Is what a job writes just before its end, or before it is killed, in S3, and does the next job find it?",
        "all of it, folders included, at the end of a script, however it ends",
        f"{_GUIDE} says that it is copied in the background, not when last",
        jobs.checkpoints,
        360,
    ),
    Probe(
        "spot",
        "Which fields has a job on spot instances, and is it billed for less?",
        "billed for 0.3 of its training time",
        "the guide promises up to 90 % less; the share is of our own choice",
        jobs.spot,
        150,
    ),
    Probe(
        "warm pool",
        "Which statuses do kept instances go through, and what is retained time called?",
        "InUse, Available, Reused or Terminated; ResourceRetainedBillableTimeInSeconds once they are given up or taken",
        _GUIDE,
        jobs.warm_pool,
        300,
    ),
    Probe(
        "listing",
        "In which order are jobs listed, is a page cut before StatusEquals is looked at, and does Search find them at once?",
        "newest first; cut before; at once",
        f"an example of the API reference; {_REPORTS}; nothing for Search",
        jobs.listing,
    ),
    Probe(
        "interruption",
        "How long is the notice of a spot interruption, and when are checkpoints copied last?",
        "TERM, 120 s, KILL, then a last copy",
        "the guide; nobody can bring one about",
        None,
    ),
    Probe(
        "capacity",
        "Does a lack of capacity show at CreateTrainingJob or in the job, and how long after?",
        "either; in the job as Failed with CapacityError",
        f"{_REPORTS}; nobody can bring one about",
        None,
    ),
    Probe(
        "pace",
        "How many calls a second does an account have, of each operation?",
        "no limit unless a fault sets one; our own pace is one ListTrainingJobs a second, and adapts",
        f"{_REPORTS}; to find out would slow down whoever else works in the account",
        None,
    ),
)
"""All of them; those of jobs come in the order in which they are looked at."""
