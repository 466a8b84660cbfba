"""Standard input, output and errors of the command.

- `line_streams`: lines of text in and out, as they arrive.
- `output_format`: text, n-best lists and JSON lines.
- `paragraph_lines`: lines of many sentences in and out.
- `other_language`: a remark on text in another language than the model's.
- `text_width`: columns of wide and of combining characters, for tables.
- `progress_line`: the share of the work that is done, and the time left.
- `streams`: lines of a pipe or a terminal, TensorFlow's messages suppressed, remarks on stderr.
- `help_pages`: the pages of `--help`.
- `replaced_inputs`: refuses an output that would replace an input.
- `next_steps`: what to do next, for people.
- `command_errors`: errors of usage and of the operating system in one line.
"""
