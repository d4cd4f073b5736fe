"""Syne Tune's Tuner on the adapter: curves on a virtual clock, schedulers that do as they are told."""

from syne_tune import StoppingCriterion, Tuner
from syne_tune.config_space import randint
from syne_tune.optimizer.scheduler import SchedulerDecision, TrialScheduler, TrialSuggestion
from syne_tune.results_callback import StoreResultsCallback

from backends.failures import Cause
from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.syne_tune_adapter import OutriderBackend
from definitions.schema import BenchmarkDefinition

EPOCHS = 9


class Curves:
    """Loss falls along the epochs towards x; one epoch takes a second."""

    def __init__(self, fails=(), start_s=0.0):
        self.fails, self.start_s = fails, start_s

    def run(self, configuration, level, repeat):
        x = configuration["x"]
        reports = [(self.start_s + k, {"epoch": k, "loss": x + 1.0 / k}) for k in range(1, EPOCHS + 1)]
        return Run(reports, self.start_s + EPOCHS + 0.5, Cause.SCRIPT_ERROR if x in self.fails else None)


def definition(**changes):
    given = {
        "name": "fake",
        "script": "fake.py",
        "space": {"x": {"randint": [0, 99]}},
        "objectives": {"loss": "min"},
        "fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": EPOCHS},
    }
    return BenchmarkDefinition(**(given | changes))


def simulated(tmp_path, table=None, benchmark=None, **options):
    table = table or Curves()
    backend_options = {key: options.pop(key) for key in ("seed", "failure_rate", "stop_delay_s", "slots") if key in options}

    def make(context):
        return SimulatedBackend(table, checkpoints=context.folder / "checkpoints", **backend_options)

    return OutriderBackend(benchmark or definition(), "simulated", make_backend=make, folder=tmp_path / "jobs", **options)


SPACE = {"x": randint(0, 99), "epochs": EPOCHS}


def tune(backend, scheduler, *, trials, n_workers=4, **options):
    tuner = Tuner(
        trial_backend=backend,
        scheduler=scheduler,
        stop_criterion=StoppingCriterion(max_num_trials_finished=trials - 1, max_wallclock_time=60),
        n_workers=n_workers,
        sleep_time=0,
        suffix_tuner_name=False,
        save_tuner=options.pop("save_tuner", False),
        **options,
    )
    tuner.run()
    return tuner


def rows(tuner):
    callback = next(one for one in tuner.callbacks if isinstance(one, StoreResultsCallback))
    return callback.results


class Scripted(TrialScheduler):
    """Suggests what it is told to, and pauses and stops as it is told to."""

    def __init__(self, suggestions, decisions=None):
        super().__init__(random_seed=0)
        self.left = list(suggestions)
        self.decisions = dict(decisions or {})
        self.heard, self.errors, self.completed = [], [], []

    def suggest(self):
        if not self.left:
            return None
        one = self.left.pop(0)
        return one() if callable(one) else one

    def on_trial_result(self, trial, result):
        self.heard.append((trial.trial_id, result["epoch"]))
        return self.decisions.pop((trial.trial_id, result["epoch"]), SchedulerDecision.CONTINUE)

    def on_trial_error(self, trial):
        self.errors.append(trial.trial_id)

    def on_trial_complete(self, trial, result):
        self.completed.append(trial.trial_id)

    def metric_names(self):
        return ["loss"]

    def metric_mode(self):
        return "min"

    def metadata(self):
        return {"metric_names": ["loss"], "metric_mode": "min"}


def fresh(x, checkpoint=None):
    config = {"x": x, "epochs": EPOCHS}
    return TrialSuggestion.start_suggestion(config, checkpoint_trial_id=checkpoint)
