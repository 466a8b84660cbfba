"""Models that other toolkits trained, read from the files that they published.

- `marian`: `from_marian`, from a folder of Hugging Face's MarianMTModel or of Marian to a
  `Translator`, with the model's licence and languages. `marian_folder`, `marian_npz`: the files of
  both. `marian_model`, `marian_config`, `marian_weights`, `marian_vocabularies`, `yaml_text`: their
  parts.
- `bergamot`: `from_bergamot`, from a folder of Firefox's translators. `marian_binary`: its weights,
  in Marian's binary format; `bergamot_shortlist`: its shortlist.
- `ctranslate2`: `from_ctranslate2`. `ctranslate2_file`: its model.bin, of any revision;
  `ctranslate2_weights`: its weights.
- `fairseq`: `from_fairseq`. `opennmt`, `opennmt_weights`: `from_opennmt`, for OpenNMT-py.
  `opennmt_tf`: `from_opennmt_tf`. `toolkit_settings`: settings and weights in their checkpoints.
- `from_torch`: layers and stacks with the weights of PyTorch's modules. `state_dict`, `torch_file`:
  weights of PyTorch by name, read from files without PyTorch.
- `assembly`: a `Translator` of weights, vocabularies and positions, whoever trained it.
- `packed_folder`: folders in ZIP archives. `readme_card`: the model card in a folder.
- `published`: models by their names, such as firefox://en-pt, downloaded once.
- `plain_vocabularies`: SentencePiece models beside a network, of characters, or of words.
- `id_table`: SentencePiece models with the ids of a table that both sides share.
- `generation_config`: the search that a model's own settings ask for.
"""
