"""Data-parallel gradient descent on a line, a rank for each process: torchrun --nproc-per-node 2 train.py."""

import argparse

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--batch-size", type=int)
parser.add_argument("--max-steps", type=int, default=10)
given = parser.parse_args()

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
weight = torch.zeros(1)
for step in range(given.max_steps):
    x = torch.arange(1, given.batch_size + 1) + rank
    gradient = (2 * (weight * x - 2 * x) * x).mean().reshape(1)
    dist.all_reduce(gradient)
    weight -= given.lr * gradient / ranks
    print(f"[rank{rank}]: step {step + 1} of {given.max_steps}, weight {weight.item():.4f}, seen by {ranks} ranks", flush=True)
dist.destroy_process_group()
