"""typer makes the command line from the types of a function."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


class Schedule(StrEnum):
    """How the learning rate falls."""

    constant = "constant"
    cosine = "cosine"


@app.command()
def evaluate(checkpoint: Path) -> None:
    """Evaluate what was trained."""
    typer.echo(checkpoint.read_text())


@app.command()
def train(
    data: Path,
    learning_rate: Annotated[float, typer.Option(min=0.0)],
    widths: Annotated[list[int], typer.Option()],
    schedule: Schedule = Schedule.constant,
    augment: bool = True,
    offset: float = 0.0,
) -> None:
    """Train on the numbers in a file."""
    numbers = [float(line) for line in data.read_text().split()]
    score = learning_rate * sum(numbers) * sum(widths) + offset
    score *= 0.5 if schedule is Schedule.cosine else 1.0
    typer.echo(f"widths={widths} augment={augment}")
    typer.secho(f"Top-1 accuracy: {score if augment else -score:.6f}%", fg=typer.colors.GREEN)


if __name__ == "__main__":
    app()
