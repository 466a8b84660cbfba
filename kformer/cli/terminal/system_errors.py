"""Errors of the operating system in the form of ours: the rule first, then what was received."""

import errno
import os
import re

_RULES = {
    errno.ENOENT: "There is no such file or folder.",
    errno.EISDIR: "A file is needed, not a folder.",
    errno.ENOTDIR: "A folder is needed, not a file.",
    errno.EACCES: "This user lacks the permission to read or write it.",
    errno.EPERM: "This user lacks the permission to read or write it.",
    errno.ENOSPC: "The disk is full.",
    errno.EDQUOT: "This user's quota of the disk is used up.",
    errno.EROFS: "The file system can only be read.",
    errno.ENAMETOOLONG: "The name of a file or folder is too long.",
    errno.EBADF: "A standard stream that the command needs must be open.",
    errno.ENOTEMPTY: "The folder must be empty.",
}
# How TensorFlow says it: "{{...}} FILE; No such file or directory [Op:...]", on a line of its own.
_IN_TENSORFLOW = re.compile(r"^(?:\{\{.*\}\} )?(.+?); ([A-Z][\w -]+?)(?: \[Op:.*)?$", re.MULTILINE)


def system_error_line(error: OSError) -> str:
    """Returns what an error says; in our form, where it has the system's."""
    if error.errno is None:  # One of ours.
        return str(error)
    rule = _RULES.get(error.errno, f"{error.strerror or os.strerror(error.errno)}.")
    if error.errno == errno.EBADF:  # The file, if one is named, is what was being written.
        return rule
    files = [file for file in (error.filename, error.filename2) if file is not None]
    return f"{rule} Received: {', '.join(map(repr, map(str, files)))}." if files else rule


def of_tensorflow(error: Exception) -> str | None:
    """Returns the message of an error that TensorFlow met with a file; None for other errors."""
    if not type(error).__module__.startswith("tensorflow."):
        return None
    rules = {os.strerror(number): rule for number, rule in _RULES.items()}
    found = _IN_TENSORFLOW.search(str(error))
    if not found or found[2] not in rules:
        return None
    return f"{rules[found[2]]} Received: {found[1]!r}."
