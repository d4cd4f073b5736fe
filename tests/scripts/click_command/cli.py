"""A group of click with a command, a choice, a switch pair, a repeated option and an argument."""

import click


@click.group()
@click.option("--quiet/--loud", default=False)
@click.pass_context
def cli(context: click.Context, quiet: bool) -> None:
    """Train things."""
    context.obj = quiet


@cli.command()
@click.argument("model", type=click.Choice(["linear", "cubic"]))
@click.option("--learning-rate", "-l", type=float, required=True)
@click.option("--layer", "layers", type=int, multiple=True)
@click.option("--shuffle", is_flag=True)
@click.pass_obj
def train(quiet: bool, model: str, learning_rate: float, layers: tuple[int, ...], shuffle: bool) -> None:
    """Train one model."""
    score = learning_rate * sum(layers) ** (1 if model == "linear" else 3) - shuffle
    if not quiet:
        click.echo(f"{model}: layers {layers}")
    click.secho(f"Final score is {score:.4f} points.", fg="green", bold=True, color=True)


if __name__ == "__main__":
    cli()
