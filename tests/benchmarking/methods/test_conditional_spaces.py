"""Dimensions that exist only beside some values of others, under every method that searches a space."""

import pytest

from backends.simulated.table import Run
from benchmarking.methods.searchers.encoding import Encoding
from definitions.schema import Budget
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import benchmark, experiment

SPACE = {
    "optimizer": {"choice": ["sgd", "adam"]},
    "lr": {"loguniform": [1e-4, 1.0]},
    "momentum": {"when": "optimizer == 'sgd'", "uniform": [0, 1]},
    "schedule": {"when": "momentum > 0.5", "choice": ["cosine", "step", "none"]},
    "amsgrad": {"when": "optimizer == 'adam'", "choice": [True, False]},
}
FULL = 4


class Table:
    """The best is SGD with momentum near 0.9 and a cosine schedule; that of Adam is worse."""

    def run(self, configuration, level, repeat):
        loss = 1.0 if configuration["optimizer"] == "adam" else abs(configuration["momentum"] - 0.9)
        loss += 0.2 * (configuration.get("schedule") != "cosine")
        return Run([(float(epoch), {"epoch": epoch, "loss": loss + 1.0 / epoch}) for epoch in range(1, FULL + 1)], FULL + 0.5)


def asked(trials):
    fidelity = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": FULL}
    return benchmark(space=SPACE, fidelity=fidelity, budget=Budget(max_num_trials=trials))


def configurations(loop):
    return [evaluation.configuration for evaluation in loop.state.evaluations.values()]


@pytest.mark.parametrize("method", ["RS", "ASHA", "BO", "MOBSTER", "CQR", "PBT", "TPE", "BORE", "REA"])
def test_every_method_suggests_what_exists_and_nothing_else(method):
    definition = asked(24)
    loop = experiment(definition, MemoryJournal(), method, table=Table())
    loop.run()
    found = configurations(loop)
    space = definition.search_space
    for one in found:
        space.check(one)
        assert list(one) == [key for key in SPACE if key in one]
    assert {one["optimizer"] for one in found} == {"sgd", "adam"}


def test_a_model_learns_what_a_conditional_dimension_does():
    losses = {}
    for method in ("RS", "BO"):
        loop = experiment(asked(40), MemoryJournal(), method, table=Table())
        loop.run()
        late = configurations(loop)[20:]
        losses[method] = sum(one.get("schedule") == "cosine" and one["momentum"] > 0.8 for one in late) / len(late)
    assert losses["BO"] > 2 * losses["RS"]


def test_what_does_not_exist_is_alike_in_a_vector_and_says_nothing_in_marks():
    encoding = Encoding(asked(1).search_space)
    adam, other = ({"optimizer": "adam", "lr": 0.01, "amsgrad": flag} for flag in (True, False))
    sgd = {"optimizer": "sgd", "lr": 0.01, "momentum": 0.2}
    assert encoding.width == 2 + 1 + 1 + 3 + 2
    assert encoding.vector(adam)[3:7] == encoding.vector(other)[3:7] == [0.5, 0.0, 0.0, 0.0]
    assert encoding.vector(sgd)[3:] == pytest.approx([0.2, 0, 0, 0, 0, 0])
    assert encoding.configuration(encoding.marks(sgd)) == pytest.approx(sgd)
    filled = [encoding.marks({"optimizer": "adam", "lr": 10 ** -(k / 100), "amsgrad": True})["momentum"] for k in range(300)]
    assert 0.4 < sum(filled) / 300 < 0.6
    assert min(filled) < 0.1
    assert max(filled) > 0.9


def test_points_are_filled_up_with_what_exists_beside_them():
    definition = benchmark(
        space=SPACE, points_to_evaluate=[{"optimizer": "adam"}, {"optimizer": "sgd", "momentum": 0.9}], budget=Budget(max_num_trials=2)
    )
    loop = experiment(definition, MemoryJournal(), "RS", table=Table(), arguments={"points_to_evaluate": definition.points_to_evaluate})
    loop.run()
    first, second = configurations(loop)
    assert set(first) == {"optimizer", "lr", "amsgrad"}
    assert (second["optimizer"], second["momentum"], second["schedule"]) == ("sgd", 0.9, "step")
