"""The states of callbacks, which checkpoints save and restore.

A callback with a state has two methods: `get_state()` returns it as a JSON-serializable value, and
`set_state(state)` restores it.
"""


def get_states(callbacks):
    """Returns the class name and the state of each of `callbacks` that has a state."""
    return [[type(one).__name__, one.get_state()] for one in _stateful(callbacks)]


def set_states(callbacks, states):
    """Restores the states that `get_states` returned.

    Raises:
        ValueError: The states belong to other callbacks.
    """
    callbacks = _stateful(callbacks)
    names = [type(one).__name__ for one in callbacks], [name for name, _ in states]
    if names[0] != names[1]:
        raise ValueError(
            "A run is resumed with the callbacks that it began with. "
            f"Received: {', '.join(names[0])}, where the checkpoint has {', '.join(names[1])}."
        )
    for callback, (_, state) in zip(callbacks, states, strict=True):
        callback.set_state(state)


def _stateful(callbacks):
    return [one for one in callbacks if hasattr(one, "get_state")]
