"""Checkpoints of toolkits: files of `torch.save`, read without PyTorch, and of TensorFlow.

- `fairseq`: `from_fairseq`, from a checkpoint of fairseq to a `Translator`.
- `fairseq_settings`: what its settings say of the network.
- `opennmt`: `from_opennmt`, from one of OpenNMT-py; `opennmt_weights`: its weights.
- `opennmt_tf`: `from_opennmt_tf`, from one of OpenNMT-tf.
- `opennmt_vocabularies`: the ids of both.
- `checkpoint`: what any file of `torch.save` holds: settings and weights.
"""
