"""Training on several devices and in several processes, by Keras's distribution on JAX.

- `devices`: which devices share each batch, and how a large model is split over them.
- `meetings`: when the processes of a run save and stop, and which scores they choose by.
- `hosts`: connects the processes of a run by JAX's coordination service.
- `process_team`: the processes of the current run, and what they exchange.
- `compile_ahead`: compiles the steps for all shapes of batches before the first step, and keeps
  them on disk while a run is unfinished.
"""
