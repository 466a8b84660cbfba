"""What all tests share: a quiet TensorFlow, fixed seeds, and examples that never vary."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Before TensorFlow is imported.

import hypothesis
import keras
import pytest

hypothesis.settings.register_profile("kformer", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("kformer")


@pytest.fixture(autouse=True)
def seed():
    keras.utils.set_random_seed(1)
