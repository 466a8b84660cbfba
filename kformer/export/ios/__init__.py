"""An iOS project that translates with a `.tflite` file: Swift, TensorFlow Lite, two text fields.

- `ios_project`: `export_ios_project`, with the list of the project's files and the text rules.
- `xcode_project`: the file that Xcode opens.

The other files are the project's. Those in its group `Kformer` can be copied to any app.
"""
