"""The programs that load a SavedModel with the libraries of TensorFlow, as its server does."""

import tensorflow as tf

from support.native.compiler import compile_program
from support.serving.operations import sentencepiece_library
from support.serving.server_process import batching_of


def tensorflow_arguments():
    """Returns the arguments of the compiler for the headers and libraries of TensorFlow."""
    libraries = tf.sysconfig.get_lib()
    return [
        "-w",
        *tf.sysconfig.get_compile_flags(),
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        "-l:libtensorflow_cc.so.2",
        "-l:libtensorflow_framework.so.2",
    ]


def compile_for_tensorflow(name, folder, *arguments):
    """Returns the path of the program of `native/<name>.cc`."""
    return compile_program(name, folder, *arguments, *tensorflow_arguments())


def command(program, version):
    """Returns the command of `load_saved_model` for a version, with the settings beside it."""
    batching = batching_of(version.parent)
    names = ("max_batch_size", "batch_timeout_micros", "num_batch_threads", "max_enqueued_batches")
    sizes = ",".join(map(str, batching["allowed_batch_sizes"]))
    arguments = [sentencepiece_library(), version, "translation"]
    return [*map(str, [program, *arguments, *(batching[name] for name in names), sizes])]
