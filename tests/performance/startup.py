"""How long `hpo_main.py --help` takes, against an interpreter that does nothing, and against `import syne_tune`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable

from _common import ROOT, Cost, cost_of, in_turn, load_line, median, show

COMMANDS = {
    "ours: hpo_main.py --help": ["hpo_main.py", "--help"],
    "python -c pass": ["-c", "pass"],
    "import syne_tune": ["-c", "import syne_tune"],
}


def cost_of_command(words: list[str]) -> Callable[[], Cost]:
    return lambda: cost_of(lambda: subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    # A round that is not counted fills the caches of files and of compiled modules.
    in_turn(1, {name: cost_of_command(words) for name, words in COMMANDS.items()})
    found = in_turn(given.rounds, {name: cost_of_command(words) for name, words in COMMANDS.items()})
    wall = {name: median([cost.wall_s for cost in costs]) for name, costs in found.items()}
    cpu = {name: median([cost.cpu_s for cost in costs]) for name, costs in found.items()}
    ours = next(iter(COMMANDS))
    rows = [[name, wall[name], cpu[name], wall[ours] / wall[name]] for name in COMMANDS]
    show(f"start-up ({load_line()})", ["", "wall s", "cpu s", "ours / this, wall"], rows)
    print(f"\ntarget: 0.3 s; ours {wall[ours]:.3f} s")
    ratios = [f"{name} {wall[ours] / wall[name]:.2f}" for name in list(COMMANDS)[1:]]
    print("ratio ours / " + ", ours / ".join(ratios))


if __name__ == "__main__":
    main()
