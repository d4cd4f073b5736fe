"""The example notebook, run as Jupyter runs it: progress in one output area, results as tables, and the stop button."""

from __future__ import annotations

import re
import signal

import nbformat
import pytest
from nbclient import NotebookClient

from tests.launch.conftest import ROOT

EXAMPLES = ROOT / "docs" / "examples"
pytestmark = pytest.mark.slow


@pytest.fixture
def jupyter(tmp_path, monkeypatch):
    """Return a function that runs a notebook in a folder of its own, with the kernel of this interpreter."""
    kernel = tmp_path / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(
        '{"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3", "language": "python"}'
    )
    for name, value in (("JUPYTER_PATH", "jupyter"), ("IPYTHONDIR", "ipython"), ("OUTRIDER_LEASES", "leases"), ("OUTRIDER_CACHE", "cache")):
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)

    def client(notebook, **options):
        return NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}, **options)

    return client


def cells(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def outputs(notebook):
    """Return the outputs of each code cell."""
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_the_example_runs_as_it_stands_and_shows_progress_and_tables(jupyter, path):
    notebook = nbformat.read(path, as_version=4)
    assert [outputs for outputs in outputs(notebook) if outputs] == [], "it is kept without outputs"
    jupyter(notebook).execute()
    _, run, best, comparison, frame = outputs(notebook)
    # One area, replaced in place and there for good, and the value of the cell; nothing on stderr.
    assert [one.output_type for one in run] == ["display_data", "execute_result"]
    area = run[0].data["text/plain"].splitlines()
    assert re.fullmatch(r"train x RS x seed 0 on local: results/.*", area[0])
    assert re.search(r"\| 6/6 trials done \| 0/\d+ workers \| best loss = \S+ \(trial \d\) \| spent \$", area[-1])
    assert run[0].data["text/html"].startswith("<pre>train x RS x seed 0 on local: results/")
    assert run[1].data["text/html"].startswith("<p>Best seen: configuration ")
    configuration, value = eval(best[0].data["text/plain"])
    assert value == pytest.approx((0.3 * (1 - configuration["learning_rate"]) ** 5) ** 2)
    assert "<th>factor</th>" in comparison[0].data["text/html"]
    assert comparison[0].data["text/html"].count("<tr>") == 1 + 6
    assert frame[0].data["text/html"].count("<tr") == 1 + 6


def test_the_area_is_replaced_while_the_run_goes_on(jupyter):
    seen = []
    notebook = cells(
        "import time, outrider\ndef train(x):\n    time.sleep(0.3)\n    return x",
        'outrider.run(train, space={"x": {"choice": [3.0, 4.0]}}, method="GRID", n_workers=1);',
    )
    client = jupyter(notebook)
    take = client.process_message

    def process_message(message, cell, index):
        if message["msg_type"] in ("display_data", "update_display_data"):
            seen.append((message["msg_type"], message["content"]["data"]["text/plain"].splitlines()[-1]))
        return take(message, cell, index)

    client.process_message = process_message
    client.execute()
    kinds = [kind for kind, _ in seen]
    assert (kinds[0], set(kinds[1:])) == ("display_data", {"update_display_data"})
    texts = [text for _, text in seen]
    assert any("trial 0 running: x=3.000" in text for text in texts)
    assert any("trial 1 running: x=4.000" in text for text in texts)
    assert "| 2 trials done | 0/1 workers | best loss = 3.000 (trial 0) |" in texts[-1]


def test_the_stop_button_ends_the_jobs_and_keeps_what_was_measured(jupyter):
    endless = "import time, outrider\ndef train(x):\n    outrider.report(loss=x)\n    time.sleep(3600)"
    run = 'outrider.run(train, space={"x": {"choice": [3.0, 4.0]}}, method="GRID", n_workers=1, experiment_tag="s")'
    notebook = cells(endless, run, '(row,) = outrider.load("s").trials\nprint(row["status"], row["last_loss"])')
    client = jupyter(notebook, allow_errors=True)
    take = client.process_message
    pressed = []

    def process_message(message, cell, index):
        text = message["content"].get("data", {}).get("text/plain", "")
        if "loss=3.000" in text and not pressed:
            pressed.append(client.km.provisioner.process.send_signal(signal.SIGINT))
        return take(message, cell, index)

    client.process_message = process_message
    client.execute()
    _, stopped, kept = outputs(notebook)
    (error,) = (one for one in stopped if one.output_type == "error")
    assert error.ename == "Interrupted"
    assert error.evalue.startswith("interrupted after 1 trials; outrider.load('s') reads what was measured")
    assert error.traceback == [error.evalue]
    assert kept[0].text == "interrupted 3.0\n"


def test_what_is_wrong_is_one_exception_with_the_sentence(jupyter):
    notebook = cells("import outrider\noutrider.run('dmeo')")
    jupyter(notebook, allow_errors=True).execute()
    (error,) = notebook.cells[0].outputs
    assert error.ename == "UserError"
    first, *_, last = "\n".join(error.traceback).splitlines()
    assert (first, last) == ("error: there is no benchmark 'dmeo'", "  did you mean 'demo'?")


def test_files_of_ones_own_beside_a_notebook_get_in_the_way_of_nothing(jupyter, tmp_path):
    names = ("launch", "definitions", "benchmarking", "yaml")
    for name in names:
        (tmp_path / f"{name}.py").write_text("OWN = 1\n")
    count = f"sum(module.OWN for module in ({', '.join(names)}))"
    notebook = cells(
        # As it is where Outrider is installed.
        f"import sys; sys.path.remove({str(ROOT)!r}); sys.path.insert(sys.path.index('') + 1, {str(ROOT)!r})",
        f"import launch, yaml, outrider\ndef train(x):\n    import benchmarking, definitions\n    return {{'loss': x, 'own': {count}}}",
        "result = outrider.run(train, space={'x': {'choice': [3.0]}}, method='GRID', experiment_tag='o')",
        f"import {', '.join(names)}\nprint({count}, result.best_value, outrider.load('o').best_value)",
    )
    jupyter(notebook).execute()
    assert notebook.cells[3].outputs[0].text == "4 3.0 3.0\n"
