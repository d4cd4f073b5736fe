"""What the lines of known libraries look like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_NUMBER = r"([-+]?(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|nan|NaN|inf|Infinity))"


@dataclass(frozen=True)
class Preset:
    """How a library prints metrics.

    Args:
        line: what a line with metrics looks like; `pair`: a name (groups before the last, joined by a hyphen) and its number in it.
        level: how far the job is, in the first group; `level_name`: what that is called.
        level_added: to the number printed, where the library counts from 0 and the fidelity counts what is done.
        wrapped: what a line that goes on with the one before looks like; None where lines are whole.
        recalled_after: a line after which one shows an earlier level again.
        is_running: whether lines repeat the figures of the level before until there are new ones, so that only its end tells a level's own.
    """

    line: re.Pattern[str]
    pair: re.Pattern[str]
    level: re.Pattern[str] | None
    level_name: str
    level_added: int = 0
    wrapped: re.Pattern[str] | None = None
    is_running: bool = False
    recalled_after: re.Pattern[str] | None = None

    def expressions(self) -> list[str]:
        """Return the expressions of which a line that counts matches one."""
        # Where the level counts what is done it stands in a line of its own, before the metrics.
        alone = self.level if self.level_added == 0 else None
        return [found.pattern for found in (self.line, alone, self.wrapped, self.recalled_after) if found is not None]


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # {'loss': '0.6931', 'grad_norm': '1.2', 'learning_rate': '5e-05', 'epoch': '1'}
        "huggingface": Preset(re.compile(r"\{'[\w./-]+': .*'epoch': "), re.compile(rf"'([\w./-]+)': '?{_NUMBER}(?=['}},])"), None, "epoch"),
        # 8/8 - 1s - 100ms/step - accuracy: 0.5 - loss: 0.6 - val_loss: 0.7
        "keras": Preset(
            re.compile(r"[0-9]+/[0-9]+ .* - \w+: "),
            re.compile(rf" - (\w+): {_NUMBER}(?![\w.])"),
            re.compile(r"^\s*Epoch ([0-9]+)(?:/[0-9]+)?\s*$"),
            "epoch",
        ),
        # [10]  valid_0's l2: 0.25  valid_0's auc: 0.7; with cross-validation  cv_agg's valid l2: 0.4 + 0.01
        "lightgbm": Preset(
            re.compile(r"\[[0-9]+\]\s+\w+'s "),
            re.compile(rf"(\w+)'s ([^:\t]+): {_NUMBER}"),
            re.compile(r"\[([0-9]+)\]"),
            "round",
            recalled_after=re.compile("est iteration is:"),
        ),
        # A bar that says `Epoch 1/3:` is a program's own, which mostly counts from 1.
        # Epoch 0: 100%|##########| 2/2 [00:00<00:00, 30.1it/s, v_num=0, train_loss=0.5]
        "lightning": Preset(
            re.compile(r"Epoch [0-9]+(?::|/[0-9]+ ).*(?:it/s|s/it)"),
            re.compile(rf"[, ](?!v_num)([A-Za-z_]\w*)(?:=|: ){_NUMBER}(?![\w.])"),
            re.compile(r"Epoch ([0-9]+)"),
            "epoch",
            1,
            wrapped=re.compile(r"^ {20,}[A-Za-z_]\w*: \S+ *$"),
            is_running=True,
        ),
        # [0]  train-rmse:0.48  val-rmse:0.50; with cross-validation  train-rmse:0.48+0.01
        "xgboost": Preset(re.compile(r"\[[0-9]+\]\t"), re.compile(rf"([\w@.-]+):{_NUMBER}"), re.compile(r"\[([0-9]+)\]"), "round", 1),
    }
)

ANYBODYS = frozenset({"lightning"})
"""Of these the lines are bars of tqdm, which any program may show; so its own words may say more."""
