"""Documents: files of other formats to segments of text and back, for `kformer.translate_document`.

- `document_translation`: `translate_document` and `document_segments`, the whole way.
- `document_kinds`: the kinds, by name and by suffix.
- `character_sets`: bytes to characters and back, exactly.
- `segments`: texts with the markup inside them. `placeholders`: what must stay in a text.
- `asking`: a translator's answers, each distinct text once.
- `placement`, `word_places`: markup back into a translation.
- `plain_text`, `html_text`, `subtitles`: the kinds.
"""
