"""Hydra with a tree of configurations: python train.py optimizer=sgd optimizer.lr=0.1."""

import logging

import hydra
from omegaconf import DictConfig

log = logging.getLogger(__name__)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def train(config: DictConfig) -> None:
    optimizer = config.optimizer
    log.info("%s, widths %s, dropout %s", optimizer.name, config.model.widths, config.model.dropout)
    loss = sum(config.model.widths) * (1 - (config.model.dropout or 0.0))
    for epoch in range(config.epochs):
        loss *= 1 - optimizer.lr - optimizer.get("momentum", 0.0)
        log.info("epoch %d: val_loss %.4e", epoch + 1, loss)


if __name__ == "__main__":
    train()
