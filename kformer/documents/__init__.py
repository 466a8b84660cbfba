"""Documents: files of other formats to segments of text and back, for `kformer.translate_document`.

- `document_translation`: `translate_document`, `translate_markup` and `document_segments`, the
  whole way. `document_report`: their result.
- `document_kinds`: the kinds, by name and by suffix. `lines_of_text`: files that are none.
- `declared_languages`: the language of the text, which becomes the target's.
- `character_sets`: bytes to characters and back, exactly.
- `segments`: texts with the markup inside them. `placeholders`: what must stay in a text,
  which `joined_text` joins over the markup.
- `raised_notes`: marks of notes behind words.
- `amounts`: whether a translation has the numbers of its source.
- `icu_messages`, `text_blocks`: the forms of plurals, and blocks of HTML, in placeholders.
- `asking`: a translator's answers, each distinct text once.
- `placement`, `word_places`, `pair_alignment`: markup back into a translation. `nested_spans`:
  spans apart, none without text. `code_assembly`: the translation with its codes.
- `plain_text`, `markdown_text`, `html_text`, `subtitles`: kinds of text. `inline_markdown`: where
  markup stands in a paragraph of Markdown.
- `word_documents`, `open_documents`, `epub_books`: docx, odt and EPUB, in `office_archives`.
  `runs_of_text`: runs of paragraphs of Word. `presentations`: pptx. `csv_columns`: a column of a
  table.
- `gettext_catalogs`, `xliff`, `json_strings`, `android_strings`, `apple_strings`,
  `string_catalogs`, `apple_plurals`, `java_properties`, `yaml_strings`, `dotnet_resources`: texts
  of programs. `plural_forms`: plurals of catalogs by language. `xml_tokens`: the tokens of XML.
- `translation_memories`: the pairs of a document as TMX.
"""
