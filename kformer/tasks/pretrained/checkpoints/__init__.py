"""Checkpoints of toolkits that train with PyTorch: files of `torch.save`, read without it.

- `fairseq`: `from_fairseq`, from a checkpoint of fairseq to a `Translator`.
- `fairseq_settings`: what its settings say of the network.
- `opennmt`: `from_opennmt`, from one of OpenNMT-py; `opennmt_weights`: its weights.
- `checkpoint`: what any checkpoint holds: settings and weights.
"""
