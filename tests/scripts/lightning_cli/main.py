"""LightningCLI: python main.py fit --model.lr=0.1 --trainer.max_epochs=3."""

import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI


class Line(LightningModule):
    """Finds the slope 2 by gradient descent.

    Args:
        lr: step of the descent.
        start: first slope.
        squared: whether the error is squared, else absolute.
    """

    def __init__(self, lr: float = 0.01, start: float = 0.0, squared: bool = True):
        super().__init__()
        self.lr, self.squared = lr, squared
        self.slope = torch.nn.Parameter(torch.tensor(start))

    def error(self, batch):
        error = self.slope * batch - 2 * batch
        return (error**2 if self.squared else error.abs()).mean()

    def training_step(self, batch, index):
        loss = self.error(batch)
        self.log("train_loss", loss, prog_bar=True, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", self.error(batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.tensor([1.0, 2.0]), batch_size=2)

    def val_dataloader(self):
        return torch.utils.data.DataLoader(torch.tensor([1.0, 3.0]), batch_size=2)


if __name__ == "__main__":
    LightningCLI(Line, save_config_callback=None)
