"""Models that others published, by their names: found, downloaded once, and kept.

- `model_names`: what a name such as firefox://en-pt says, and the places that names lead to.
- `firefox_models`, `hugging_face`, `argos_index`, `web_addresses`: the places, one module each.
- `publishing`: a translator to the Hugging Face hub.
- `downloads`: files over HTTP that continue where they broke off, and are checked.
- `model_cache`: the folder of this user's downloaded models.
- `foreign_files`: the files of a model, whoever trained it, to a `.keras` or `.tflite` file.
"""
