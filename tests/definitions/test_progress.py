"""Places of counters in expressions: what they become, and what is refused."""

import re

import pytest

from definitions.fidelity import PerJob, Progressive
from definitions.metrics import ProgressSources
from definitions.progress import PROGRESS_PRESETS, expression_of, progress_sources
from definitions.schema import BenchmarkDefinition


def test_places_become_groups():
    found = re.search(expression_of(r"Epoch {epoch}/{epochs}, batch {step}/{steps}"), "INFO Epoch 3/90, batch 120/5004 loss 0.3")
    assert found is not None
    assert found.groupdict() == {"epoch": "3", "epochs": "90", "step": "120", "steps": "5004"}


def test_a_percentage_may_have_a_point():
    assert re.search(expression_of("{percent} ?%"), "at 12.5 %")["percent"] == "12.5"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("batch {stepp}/{steps}", "did you mean {step}?"),
        ("batch {step}/{step}", "stands twice"),
        ("of {steps}", "tells nothing that is done"),
        ("batch (a|b) {step}", "are written `(?:...)`"),
        ("batch {step} [", "no regular expression"),
        ("(?:(?:a+)+)+ {step}", "could take for ever"),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        expression_of(text)


def test_the_number_of_epochs_may_be_known_by_the_fidelity():
    fidelity = Progressive(kind="progressive", reported_as="epoch", full=27)
    assert progress_sources(("Epoch {epoch}",), fidelity) == ProgressSources(("Epoch (?P<epoch>[0-9]+)",), 27.0)
    assert progress_sources(("Epoch {epoch}",), PerJob(kind="per_job", argument="x")).epochs is None
    assert not progress_sources(None, fidelity)


@pytest.mark.parametrize(
    ("preset", "line", "counters"),
    [
        ("tqdm", " 12%|#2        | 120/1000 [00:10<01:13, 11.9it/s]", {"step": "120", "steps": "1000"}),
        ("keras", "12/40 \x1b[32m━━━━\x1b[37m━━━━━━ 0s 5ms/step - loss: 0.5", {"step": "12", "steps": "40"}),
        ("lightning", "Epoch 0:  50%|#####     | 1/2 [00:00<00:00, 30.1it/s, v_num=0]", {"epoch": "0", "step": "1", "steps": "2"}),
    ],
)
def test_bars_of_libraries(preset, line, counters):
    assert any(
        match and match.groupdict() == counters for match in (re.search(expression_of(one), line) for one in PROGRESS_PRESETS[preset])
    )


def test_a_definition_names_what_is_wrong_with_its_progress():
    given = {"name": "b", "script": "train.py", "objectives": {"loss": "min"}}
    with pytest.raises(ValueError, match=r"no place for a counter, such as \{step\}"):
        BenchmarkDefinition(**given, progress="batch 3 of 4")
    with pytest.raises(ValueError, match=r"did you mean \{steps\}"):
        BenchmarkDefinition(**given, progress=["tqdm", "batch {step}/{stepps}"])
    assert BenchmarkDefinition(**given, progress=["tqdm"]).metric_sources.progress.expressions == (
        r"\| *(?P<step>[0-9]+)/(?P<steps>[0-9]+) \[",
    )
