"""A folder that CTranslate2 runs: the model, its vocabularies and the SentencePiece models.

- `writer`: `export_ctranslate2`, from a translator to the folder.
- `model`: the weights and the vocabularies of the folder.
- `translator`: runs the folder, to compare it with Python.
"""
