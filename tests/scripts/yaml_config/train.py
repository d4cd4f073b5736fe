"""Everything is in a file: python train.py --config config.yaml."""

import sys
from pathlib import Path

import yaml

config = yaml.safe_load(Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
print(f"config: {config}")
optimizer, layers = config["optimizer"], config["model"]["layers"]
momentum = optimizer["momentum"] or 0.0
print(f"{{'accuracy': {optimizer['lr'] * (1 - momentum) * sum(layers) + (1 if config['amp'] else 0)!r}}}")
