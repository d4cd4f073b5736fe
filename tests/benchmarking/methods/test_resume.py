"""Methods that decide by levels: killed before any record and resumed, an experiment ends in the same journal."""

from __future__ import annotations

import pytest

from definitions.schema import Budget
from tests.benchmarking.methods.method_experiments import benchmark, experiment, kill_and_resume

TWO = {"loss": "min", "speed": "max"}
CASES = {
    "ASHA": {},
    "ASHA with brackets": {"method": "ASHA", "arguments": {"brackets": 2, "reduction_factor": 2}},
    "ASHA promoting": {"method": "ASHA", "arguments": {"type": "promotion"}, "stop_delay_s": 0.5},
    "ASHA promoting, slowly stopped": {"method": "ASHA", "arguments": {"type": "promotion", "rungs": [1, 3]}, "stop_delay_s": 3.0},
    "MOASHA": {"benchmark": {"objectives": TWO}, "stop_delay_s": 0.5},
    "MOASHA promoting": {"method": "MOASHA", "benchmark": {"objectives": TWO}, "arguments": {"type": "promotion"}},
    "MSR": {"arguments": {"grace_population": 2}},
    "PBT": {"arguments": {"perturbation_interval": 2}},
    "BO with a shared start": {"method": "BO", "arguments": {"shared_start": 3}, "benchmark": {"budget": Budget(max_num_trials=8)}},
    "ASHA with a shared start": {"method": "ASHA", "arguments": {"shared_start": 3, "type": "promotion"}},
    "with failures": {"method": "ASHA", "arguments": {"type": "promotion"}, "failure_rate": 0.3, "start_delay_s": 0.5, "seed": 3},
}


def run_of(name):
    options = dict(CASES[name])
    method = options.pop("method", name)
    made = benchmark(**options.pop("benchmark", {}))

    def run(journal, folder):
        return experiment(made, journal, method, checkpoints=folder, **options)

    return run


@pytest.mark.parametrize("name", CASES)
def test_resume_after_a_kill_at_any_record_ends_in_the_same_journal(name, tmp_path):
    kill_and_resume(run_of(name), tmp_path, every=53)
