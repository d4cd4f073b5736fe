"""Descend to a minimum: flags with hyphens, switches that are there or not."""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, required=True)
parser.add_argument("--use-momentum", action="store_true")
parser.add_argument("--max-epochs", type=int, default=1)
given = parser.parse_args()

position, velocity = 1.0, 0.0
for epoch in range(1, given.max_epochs + 1):
    velocity = 0.5 * velocity * given.use_momentum - given.learning_rate * position
    position += velocity
    print(f"Epoch {epoch}/{given.max_epochs} - val. loss: {position**2:.6f}")
