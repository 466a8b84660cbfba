"""Names that are imported when they are first used."""

import importlib

_TENSORFLOW = ("tensorflow", "tensorflow_text")


def imported(package, module_of, name):
    """Returns the attribute `name` of `package`, from the module that `module_of` has for it.

    Args:
        package: "kformer" or a package in it.
        module_of: dict, name -> module in the package.
        name: What is looked up.

    Raises:
        AttributeError: There is no such name.
        ImportError: It needs TensorFlow, which is not installed.
    """
    if name not in module_of:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{package}.{module_of[name]}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in _TENSORFLOW:
            raise
        raise ImportError(
            f"`{package}.{name}` reads text with TensorFlow, whatever Keras's backend is: install "
            f"tensorflow and tensorflow-text. Received: no module named {missing!r}."
        ) from error
    return getattr(module, name)
