"""HfArgumentParser and Trainer with a tiny BERT that begins at nothing: only the bias of its classifier learns."""

import sys
from dataclasses import dataclass, field

import torch
from transformers import BertConfig, BertForSequenceClassification, HfArgumentParser, Trainer, TrainingArguments


@dataclass
class ModelArguments:
    """The model."""

    num_labels: int = field(default=2, metadata={"help": "Number of classes."})
    hidden_size: int = 8
    tie_word_embeddings: bool = False


class Sentences(torch.utils.data.Dataset):
    """Eight sentences of random words; all but one have the label 0."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {"input_ids": torch.randint(16, (4,)), "labels": int(index == 0)}


model_arguments, training_arguments = HfArgumentParser((ModelArguments, TrainingArguments)).parse_args_into_dataclasses()
print(model_arguments, file=sys.stderr)
config = BertConfig(
    vocab_size=16,
    num_labels=model_arguments.num_labels,
    hidden_size=model_arguments.hidden_size,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=8,
    max_position_embeddings=8,
    initializer_range=1e-9,
)
Trainer(BertForSequenceClassification(config), training_arguments, train_dataset=Sentences(), eval_dataset=Sentences()).train()
