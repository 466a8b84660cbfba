"""The Transformer of "Attention Is All You Need" as Keras layers, for whole sequences.

In the order of the paper, [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762):

- `embedding`: token embeddings and positional encodings (sections 3.4 and 3.5).
- `masks`: which positions may attend to which.
- `attention`: scaled dot-product and multi-head attention (section 3.2).
- `feed_forward`: the position-wise feed-forward network (section 3.3).
- `residual`, `layer_norm`, `dropout`, `dense`, `freezing`, `stack`: what surrounds each sub-layer.
- `encoder`, `decoder`: layers and stacks (section 3.1).
- `networks`: whole networks, `Transformer` among them.

These layers are also the reference for `kformer.decoding`, which computes the same for one
position at a time.
"""
