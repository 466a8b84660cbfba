import kformer


def said_by(call):
    try:
        call()
    except (AttributeError, TypeError, ValueError) as error:
        return str(error)
    return ""


assert "kformer.training.train" in said_by(lambda: kformer.train("tiny"))
train = kformer.training.train
message = said_by(lambda: train("tiny", source="text.de", target="text.en", output="run"))
assert "source_files" in message, message
recipe = kformer.training.Recipe.named("tiny", epochs=1, num_layers=1, d_model=16, d_ff=32)
assert "learning_rate_scale" in said_by(lambda: kformer.training.Recipe.named("tiny", lr=1))
print(recipe)
