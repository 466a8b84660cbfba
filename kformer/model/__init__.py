"""The Transformer of "Attention Is All You Need" as Keras layers, for whole sequences.

In the order of the paper, [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762):

- `embedding`: token embeddings and positional encodings (sections 3.4 and 3.5).
- `masks`: the positions that each position may attend to.
- `attention`: scaled dot-product and multi-head attention (section 3.2).
- `ssru`: the Simpler Simple Recurrent Unit, which can replace a decoder's self-attention.
- `feed_forward`: the position-wise feed-forward network (section 3.3).
- `residual`: residual connections, layer normalization and dropout around each sub-layer.
- `encoder`, `decoder`: layers and stacks (section 3.1). `stack`: their common base class.
  `dense`: the Dense layers of a network, their weights, and the frozen ones.
- `transformer`: `Transformer`, encoder and decoder: ids in, logits out (section 3).
- `transformer_encoder`: `TransformerEncoder`, the encoder alone: ids in, vectors out.
- `transformer_decoder`: `TransformerDecoder`, the decoder alone: ids in, logits out.
- `sequence_classifier`: `SequenceClassifier`, an encoder with a head: a logit for each class.
- `other_arguments`: answers to arguments of layers of other libraries.
- `network`: `Network`, the base class of networks, and float32 copies for export.

These layers are also the reference for `kformer.decoding`, which computes the same for one
position at a time.
"""
