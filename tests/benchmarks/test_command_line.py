"""The options of the benchmarks: what is wrong is told in one line."""

import pytest

from benchmarks.decoding import __main__ as decoding
from benchmarks.training import __main__ as training


@pytest.mark.parametrize(
    ("benchmark", "options", "message"),
    [
        (training, "--rounds 0", "`--rounds` must be positive. Received: --rounds 0."),
        (training, "--source {file}", "belong together. Received: --source {file} --target None."),
        (training, "--sizes huge", "invalid choice: 'huge'"),
        (decoding, "--beams 1 0", "`--beams` must be positive. Received: --beams 0."),
        (decoding, "--threads -1", "`--threads` must be positive. Received: --threads -1."),
        (decoding, "--model {file}", "belong together. Received: --model {file} --source None."),
        (decoding, "--model a --source b", "There must be such a file. Received: 'a'."),
        (decoding, "--cases all", "invalid choice: 'all'"),
    ],
)
def test_wrong_options_are_one_line(benchmark, options, message, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench", *options.format(file=__file__).split()])
    with pytest.raises(SystemExit) as ended:
        benchmark.main()
    said = capsys.readouterr()
    assert ended.value.code == 2 and said.out == ""
    assert said.err.startswith("bench-") and said.err.count("\n") == 1
    assert message.format(file=__file__) in said.err
