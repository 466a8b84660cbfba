"""An Android project that translates with a `.tflite` file: Kotlin, LiteRT, two text fields.

- `android_project`: `export_android_project`, with the list of the project's files.
- `text_rules`: the rules of Python's sentences, list marks and flags, as JSON for Kotlin.

The other files are the project's. Those in the Kotlin package `kformer` can be copied to any app.
"""
