import kformer


def said_by(call):
    try:
        call()
    except (AttributeError, TypeError, ValueError) as error:
        return str(error)
    return ""


assert "kformer.training.train" in said_by(lambda: kformer.train("tiny"))
assert "`learning_rate`" in said_by(lambda: kformer.training.Recipe.named("tiny", lr=1))
sizes = {"vocab_size": 280, "num_layers": 1, "d_model": 16, "d_ff": 32}
recipe = kformer.training.Recipe.named("quick", epochs=1, **sizes)
translator = kformer.training.train(recipe=recipe, source="text.de", target="text.en", output="run")
assert isinstance(translator, kformer.Translator)
