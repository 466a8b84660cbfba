"""Keeps what XLA compiled on disk, so that a run that resumes does not compile it again."""

import contextlib
from pathlib import Path

from kformer.backend import is_tensorflow


@contextlib.contextmanager
def compiled_in(folder: str | Path):
    """Has JAX read and write compiled steps in `folder` while the context is open.

    The user's own folder, that of JAX_COMPILATION_CACHE_DIR, is used instead if there is one.
    """
    if is_tensorflow():
        yield
        return
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    if jax.config.jax_compilation_cache_dir:
        yield
        return
    changes = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.2,  # Not the many small operations.
    }
    before = {name: getattr(jax.config, name) for name in changes}
    _configure(jax, compilation_cache, changes)
    try:
        yield
    finally:
        _configure(jax, compilation_cache, before)


def _configure(jax, compilation_cache, values):
    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()  # Otherwise JAX keeps to the folder of its first compilation.
