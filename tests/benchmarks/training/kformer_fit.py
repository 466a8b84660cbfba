"""kformer: `model.fit` as `kformer train` calls it: the same model, metrics and threads."""

from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.keras_fit import fit
from benchmarks.training.process import serve
from benchmarks.training.sizes import DROPOUT, LABEL_SMOOTHING, MAX_LENGTH
from kformer.threads import a_core_for_each_operation
from kformer.training import Recipe, TokensPerSecond
from kformer.training.kinds.translation_learner import compiled_transformer


def train(size, dtype, options, batches, rounds):
    recipe = Recipe.named(
        "tiny",
        vocab_size=VOCAB_SIZE,
        num_layers=size.num_layers,
        d_model=size.d_model,
        num_heads=size.num_heads,
        d_ff=size.d_ff,
        dropout=DROPOUT,
        norm_first=False,
        max_length=MAX_LENGTH,
        label_smoothing=LABEL_SMOOTHING,
        ema_momentum=0.0,  # The others keep no average of the weights either.
        precision=dtype,
    )
    fit(compiled_transformer(recipe), batches, rounds, [TokensPerSecond()])


if __name__ == "__main__":
    a_core_for_each_operation()
    serve(train)
