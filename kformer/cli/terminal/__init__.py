"""Standard input, output and errors of the command.

- `lines`: lines of text in and out, while they come.
- `output_format`: text, n-best lists and JSON lines.
- `paragraphs`: lines of many sentences in and out.
- `progress`: how far a command is, and how long it will take.
- `quiet`: keeps TensorFlow's messages away.
- `stream`: lines of a pipe or a terminal.
- `system_errors`: errors of the operating system in one line.
- `usage_errors`: errors in what was typed, in one line.
"""
