# Usage: solve.py STEP START ROUNDS
import sys

print("called with", *sys.argv[1:])
step, x, rounds = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
for _ in range(rounds):
    x -= step * 2 * (x - 3)
sys.stdout.write(f"f({x:.4f}) = {(x - 3) ** 2:.8f}")  # and no newline at the end
