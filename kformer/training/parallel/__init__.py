"""Training on several devices and in several processes, by Keras's distribution on JAX.

- `devices`: which devices share each batch, how a large model is split over them, and when their
  processes save and stop.
- `hosts`: connects the processes of a run. `process_team`: the processes of the current run.
- `channel`, `peer_connection`: authenticated messages between them, and dead processes.
- `reception`: process 0 waits for the others. `greeting`: each proves that it has the secret.
- `relay`: messages of JAX's coordination service.
- `compile_ahead`: compiles the steps for all shapes of batches before the first step, and keeps
  them on disk while a run is unfinished.
"""
