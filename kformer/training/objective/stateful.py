"""Callbacks with a memory: what they know is saved with the run, and restored.

Such a callback has two methods: `get_state()` returns anything that JSON can say, and
`set_state(state)` takes it back.
"""


def get_states(callbacks):
    """Returns the states of those `callbacks` that have one, with the names of their classes."""
    return [[type(one).__name__, one.get_state()] for one in _stateful(callbacks)]


def set_states(callbacks, states):
    """Gives each of those `callbacks` that have one the state that it had.

    Raises:
        ValueError: The states are those of other callbacks.
    """
    callbacks = _stateful(callbacks)
    names = [type(one).__name__ for one in callbacks], [name for name, _ in states]
    if names[0] != names[1]:
        raise ValueError(
            "A run goes on with the callbacks that it began with. "
            f"Received: {', '.join(names[0])}, where the checkpoint has {', '.join(names[1])}."
        )
    for callback, (_, state) in zip(callbacks, states, strict=True):
        callback.set_state(state)


def _stateful(callbacks):
    return [one for one in callbacks if hasattr(one, "get_state")]
