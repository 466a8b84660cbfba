"""Translators that others have trained, read from the files that they published.

- `marian`: `from_marian`, from a folder of Hugging Face's MarianMTModel to a `Translator`.
- `marian_folder`: reads the files of such a folder, and checks that they belong together.
- `marian_npz`: reads those of a folder of Marian's own; `marian_vocabularies` its vocabularies.
- `marian_weights`: its weights.
- `ctranslate2`: `from_ctranslate2`, from a folder of CTranslate2; `ctranslate2_file` reads its
  model.bin, `ctranslate2_revisions` brings older ones up to date, `ctranslate2_weights` reads its
  weights.
- `checkpoints`: translators of the checkpoints of fairseq and OpenNMT-py.
- `positions`: the kinds of sinusoidal positions.
- `sentencepiece_files`: the SentencePiece models beside a network.
- `plain_vocabularies`: SentencePiece models that split text into characters, or at spaces.
- `yaml_text`: YAML of strings.
- `generation`: how a model is to be searched.
- `model_card`: licence, languages and citation, from README.md.
- `assembly`: a `Translator` of weights and vocabularies, whoever trained it.
- `id_table`: SentencePiece models whose ids are those of a table that both sides share.
"""
