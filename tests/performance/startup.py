"""How long `hpo_main.py` takes: to answer `--help`, and from the first instruction of a run to its first process.

--help      against an interpreter that does nothing, and `import syne_tune`
first       processor seconds of the controller and of what it has waited for, as the first process of a run finds them in `/proc`: a
            definition with one no-op script, RS, local; the parts are those of an interpreter that imports what any such program needs
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable

from _common import ROOT, Cost, cost_of, in_turn, load_line, median, show, temporary_folder

COMMANDS = {
    "ours: hpo_main.py --help": ["hpo_main.py", "--help"],
    "python -c pass": ["-c", "pass"],
    "import syne_tune": ["-c", "import syne_tune"],
}
PARTS = {
    "python -c pass": ["-c", "pass"],
    "import pydantic's BaseModel": ["-c", "from pydantic import BaseModel"],
    "import definitions.schema": ["-c", "import definitions.schema"],
}
FIRST = """
import os
from pathlib import Path
from outrider_report import report
parent = os.getppid()
own_ns = int(Path(f"/proc/{parent}/schedstat").read_text().split()[0])
ticks = Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[13:15]
report(loss=own_ns / 1e9 + sum(int(tick) for tick in ticks) / os.sysconf("SC_CLK_TCK"))
"""
DEFINITION = """
name: first
script: first.py
space: {x: {randint: [0, 9]}}
objectives: {loss: min}
budget: {max_num_trials: 1}
"""


def cost_of_command(words: list[str]) -> Callable[[], Cost]:
    return lambda: cost_of(lambda: subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True))


def first_process() -> Cost:
    """Run one trial that looks at its controller; return the controller's processor seconds by then, and the wall time of the whole run."""
    with temporary_folder() as folder:
        (folder / "first.py").write_text(FIRST)
        (folder / "first.yaml").write_text(DEFINITION)
        words = ["hpo_main.py", "--benchmark", str(folder / "first.yaml"), "--results_dir", str(folder), "--format", "json"]
        found: list[str] = []

        def run() -> None:
            done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
            found.append(done.stdout)

        cost = cost_of(run)
        return Cost(cost.wall_s, json.loads(found[0])["experiments"][0]["best"] if found else 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    sides = {**{name: cost_of_command(words) for name, words in {**COMMANDS, **PARTS}.items()}, "ours: first process": first_process}
    # A round that is not counted fills the caches of files and of compiled modules.
    in_turn(1, sides)
    found = in_turn(given.rounds, sides)
    wall = {name: median([cost.wall_s for cost in costs]) for name, costs in found.items()}
    cpu = {name: median([cost.cpu_s for cost in costs]) for name, costs in found.items()}
    least = {name: min(cost.cpu_s for cost in costs) for name, costs in found.items()}
    ours = next(iter(COMMANDS))
    rows = [[name, wall[name], cpu[name], least[name], wall[ours] / wall[name]] for name in COMMANDS]
    show(f"hpo_main.py --help ({load_line()})", ["", "wall s", "cpu s", "least cpu s", "ours / this, wall"], rows)
    first = "ours: first process"
    rows = [[name, cpu[name], least[name], cpu[first] / cpu[name]] for name in (first, *PARTS)]
    show("to the first process of a run", ["", "cpu s", "least cpu s", "first process / this, cpu"], rows)
    print(f"\ntarget: --help 0.3 s, ours {wall[ours]:.3f} s; first process 0.35 s of cpu, ours {cpu[first]:.3f} s")
    ratios = [f"{name} {wall[ours] / wall[name]:.2f}" for name in list(COMMANDS)[1:]]
    print("ratio ours / " + ", ours / ".join(ratios))


if __name__ == "__main__":
    main()
