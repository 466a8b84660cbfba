"""The settings in a checkpoint of fairseq."""

from pathlib import Path

from kformer.tasks.pretrained.checkpoints.checkpoint import Settings, settings_in
from kformer.tasks.pretrained.positions import tensor2tensor_positions

_LONGEST = 1024  # Ids of a source, where the settings do not tell; fairseq's own default.
_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "swish"}
_TASK = "translation"
_OTHER_SPLITTING = ("fastbpe", "subword_nmt", "gpt2", "bytes", "byte_bpe", "characters", "bert")
_FEATURES = {  # What a `Transformer` lacks.
    "encoder_learned_pos": "learned positions",
    "decoder_learned_pos": "learned positions",
    "no_token_positional_embeddings": "positions that are turned off",
    "layernorm_embedding": "a norm of the embedded ids",
    "no_scale_embedding": "embeddings that are not scaled",
    "adaptive_input": "adaptive inputs",
    "adaptive_softmax_cutoff": "an adaptive softmax",
    "quant_noise_pq": "quantization noise",
    "quant_noise_scalar": "quantization noise",
    "cross_self_attention": "attention to source and target at once",
    "no_cross_attention": "a decoder that does not attend to the source",
    "no_decoder_final_norm": "a decoder that lacks its last norm",
    "encoder_layers_to_keep": "layers that are left out",
    "decoder_layers_to_keep": "layers that are left out",
    "character_embeddings": "embeddings of characters",
    "base_layers": "layers of experts",
    "encoder_langtok": "tokens of languages",
    "decoder_langtok": "tokens of languages",
}


class Fairseq:
    """What the settings of a checkpoint of fairseq say of the network.

    Args:
        content: What the file holds: `args`, or `cfg` in newer ones.
        path: For messages.

    Attributes:
        languages: Names of source and target in those of the dictionaries.
        longest: Largest number of ids of a source.

    Raises:
        ValueError: The network is no `kformer.Transformer`, or its text was not split by
            SentencePiece.
    """

    def __init__(self, content: dict, path: Path):
        config = settings_in(content.get("cfg"))
        values = settings_in(content.get("args"))
        for part in ("bpe", "task", "model"):
            values = values | settings_in(config.get(part))
        self._settings = Settings(values, "fairseq", path)
        if not values:
            self._settings.refuse("A checkpoint of fairseq must hold its settings.", "args", "cfg")
        for part in ("bpe", "task"):
            values[part] = settings_in(config.get(part)).get("_name", values.get(part))
        self._check()
        self.languages = [self._language(name) for name in ("source_lang", "target_lang")]
        longest = values.get("max_source_positions")
        self.longest = longest if type(longest) is int else _LONGEST

    def network(self) -> dict:
        """Returns arguments of `kformer.Transformer` by name."""
        settings = self._settings
        sides = ("encoder", "decoder")
        for name in ("attention_heads", "ffn_embed_dim", "embed_dim"):
            settings.of_both(*(f"{side}_{name}" for side in sides))
        norms = [bool(settings.values.get(f"{side}_normalize_before")) for side in sides]
        if norms[0] != norms[1]:
            names = [f"{side}_normalize_before" for side in sides]
            settings.refuse(f"{' and '.join(names)} must be equal.", *names)
        d_model = settings.number("encoder_embed_dim")
        if d_model % 2 or d_model < 4:
            settings.refuse("The width must be even, and at least 4.", "encoder_embed_dim")
        return {
            "num_layers": settings.number("encoder_layers"),
            "num_decoder_layers": settings.number("decoder_layers"),
            "d_model": d_model,
            "num_heads": settings.number("encoder_attention_heads"),
            "d_ff": settings.number("encoder_ffn_embed_dim"),
            "norm_first": norms[0],
            "activation": settings.choice("activation_fn", _ACTIVATIONS, "relu"),
            "padding_id": 1,
            **tensor2tensor_positions(d_model, first=2),
        }

    @property
    def tied_output(self) -> bool:
        """Whether the output shares the table of the target."""
        shares = ("share_decoder_input_output_embed", "share_all_embeddings")
        return any(self._settings.values.get(name) for name in shares)

    def _check(self):
        settings, values = self._settings, self._settings.values
        if values["task"] not in (None, _TASK):
            settings.refuse(f"A model of fairseq's task `{_TASK}` can be imported.", "task")
        if values["bpe"] in _OTHER_SPLITTING:
            settings.refuse("The text must be split by SentencePiece.", "bpe")
        settings.refuse_features(_FEATURES)

    def _language(self, name):
        value = self._settings.values.get(name)
        if not isinstance(value, str) or not value or Path(value).name != value:
            self._settings.refuse("The settings must name the languages of the dictionaries.", name)
        return value
