"""Whole networks, from ids on, and where their weights come from.

- `network`: `Network`, what they share.
- `transformer`: `Transformer`, encoder and decoder (section 3 of the paper).
- `transformer_encoder`: `TransformerEncoder`, the encoder alone: ids in, vectors out.
- `transformer_decoder`: `TransformerDecoder`, the decoder alone: ids in, logits out.
- `sequence_classifier`: `SequenceClassifier`, an encoder with a head: ids in, a logit for each
  class out.
- `copying`: a float32 copy of a network, for export.
- `from_torch`: layers and stacks with the weights of PyTorch's modules.
- `state_dict`, `torch_file`: weights of PyTorch by name, read from files without PyTorch.
"""
