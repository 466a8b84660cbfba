"""Answers: what a translator says, once for all saved forms, over engines that search.

- `engine`: `Engine`, what a form must be able to do. `facts`: what is known about its model.
- `any_translator`: `AnyTranslator`, the methods that all translators have; `any_language_model`
  has those of language models.
- `results`: `Translation` and `Generation`, one class each for all forms.
- `search_options`: the options of a search, with their defaults.
- `splitting`: texts of many sentences, translated and put together again.
- `capitals`: sentences in capitals, for models that never read any.
- `readings`: texts as a model reads them, and its translations as they are answered.
- `sure_checks`: flags of faults that the text of a translation alone shows.
- `glossary`: the terms of a text that have given translations. `forced_terms`: translations that
  lack such terms, written anew with them; `term_drafts`: drafts with terms in place of words.
- `source_marks`: terms and placeholders in a source.
- `degenerate`: flags of output that repeats itself or is far too long.
- `quality_estimate`: the expected chrF of a translation, and the flag of unsure ones.
- `zero_shot`: directions that a model of several languages was trained in, and other ones.
"""
