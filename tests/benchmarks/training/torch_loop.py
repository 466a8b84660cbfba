"""PyTorch: `nn.Transformer` in the loop of its tutorials, with what makes it fast.

Options: `compile` for `torch.compile`, `1` for one thread instead of one for each core.

It is given: one compiled function from ids to loss; the fused Adam; causal attention asked for by
`is_causal`, without a padding mask of the target, which right-padded rows do not need; tensors that
are already there, instead of a `DataLoader`; no metrics. `nn.Transformer` itself drops attention
weights and inner feed-forward activations, and normalises once more after each stack: that is in
its time.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.batches import PADDING
from benchmarks.training.process import serve
from benchmarks.training.sizes import DROPOUT, LABEL_SMOOTHING, MAX_LENGTH


class Translation(nn.Module):
    """Ids to loss; source, target and output share one table, as in the paper."""

    def __init__(self, size):
        super().__init__()
        self.scale = size.d_model**0.5
        self.embedding = nn.Embedding(VOCAB_SIZE, size.d_model)
        nn.init.normal_(self.embedding.weight, std=size.d_model**-0.5)
        self.register_buffer("waves", positional_encoding(size.d_model))
        self.dropout = nn.Dropout(DROPOUT)
        self.transformer = nn.Transformer(
            size.d_model,
            size.num_heads,
            size.num_layers,
            size.num_layers,
            size.d_ff,
            DROPOUT,
            batch_first=True,
        )

    def embed(self, ids):
        return self.dropout(self.embedding(ids) * self.scale + self.waves[: ids.shape[1]])

    def forward(self, source, target_in, target_out):
        padding = source == PADDING
        output = self.transformer(
            self.embed(source),
            self.embed(target_in),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(target_in.shape[1]),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        logits = F.linear(output, self.embedding.weight)  # (B, T, V)
        return F.cross_entropy(
            logits.flatten(0, 1),
            target_out.flatten(),
            ignore_index=PADDING,
            label_smoothing=LABEL_SMOOTHING,
        )


def positional_encoding(d_model):
    """Returns the paper's sines and cosines, float32 (MAX_LENGTH, D)."""
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(MAX_LENGTH)[:, None] * frequencies
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return torch.tensor(waves.reshape(MAX_LENGTH, d_model), dtype=torch.float32)


def train(size, dtype, options, batches, rounds):
    if "1" in options:
        torch.set_num_threads(1)
    model = Translation(size).train()
    loss_of = torch.compile(model) if "compile" in options else model
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16")
    tensors = [tuple(torch.from_numpy(ids).long() for ids in batch) for batch in batches]
    while True:
        rounds.begin()
        losses = []
        for source, target_in, target_out in tensors:
            with autocast:
                loss = loss_of(source, target_in, target_out)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        rounds.end(loss=losses[0])


if __name__ == "__main__":
    serve(train)
