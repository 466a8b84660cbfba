"""Training on several devices and in several processes, by Keras's distribution on JAX.

- `devices`: which devices share each batch, and the model if it is large.
- `layout`: how the model is split over the devices that share it.
- `hosts`: connects the processes of a run. `channel`: messages between them, and who has died.
- `reception`: process 0 waits for the others. `greeting`: each proves that it has the secret.
- `connection`: authenticated messages. `relay`: those of JAX's coordination service.
- `team`: the processes of the current run. `agreement`: they save and stop together.
- `compile_ahead`: compiles the steps for all shapes of batches before the first step.
- `compilation`: what XLA compiled, on disk while a run is unfinished.
"""
