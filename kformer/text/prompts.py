"""Prompts that are too long to be continued."""

from collections.abc import Iterable

TOO_LONG = "prompt too long"  # A flag of an export's answer.


def check_prompts(flags: Iterable[tuple[str, ...]]):
    """Raises ValueError for the first prompt that was too long to be continued.

    Args:
        flags: Of the answer to each prompt.
    """
    for number, raised in enumerate(flags, start=1):
        if TOO_LONG in raised:
            raise ValueError(
                "A prompt must leave room for its continuation, within the model's limit of ids. "
                f"Received: prompt {number}, which is too long."
            )
