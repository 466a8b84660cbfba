"""The contents of documents, by parsers that `kformer.documents` does not use.

- `readers`: `read_pair`, which reads a document and its translation.
- `units`: the texts of a document, with whatever must stay in them.
- `placeholder_patterns`: placeholders, by the kind of the document.
- `html_contents`, `markdown_contents`, `xml_contents`, `string_contents`: the readers.
- `bilingual_contents`: those of formats with a place for the translation.
"""
