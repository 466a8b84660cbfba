"""What more devices and more processes cost, and a model of the time of a step.

- `step_time`: seconds of a step, from operations, bytes and links.
- `fit`: trains on simulated devices, or in two processes, in rounds.
- `partners`: the other processes of these.
- `links`: how fast two processes exchange arrays, and how fast memory is copied.
- `__main__`: measures all of these, and compares the steps with the model.
- `plan`: the tables of `kformer/training/SCALING.md`.
"""
