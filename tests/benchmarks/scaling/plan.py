"""The tables of the plan in `kformer/training/SCALING.md`.

    PYTHONPATH=tests python -m benchmarks.scaling.plan

Change the numbers in capitals to plan with others.
"""

from benchmarks.scaling.step_time import FLOAT32, Device, Network, step_time

PAIRS = 1_000_000_000
TOKENS = 30  # Of a sentence, on each side.
TOKENS_OF_DEVICE = 32_768  # Of a batch, on each side and each device.
PADDING = 0.15  # Of the ids of a batch: measured on captions, see the training guide.
DOLLARS = 3.0  # For an accelerator and an hour.
FLOPS, MEMORY = 989e12, 3.35e12  # Of an H100 SXM in bfloat16, by its data sheet.
NETWORKS = {  # With the share of these operations that training reaches: an assumption.
    "base": (Network(6, 512, 2048, 32_000), 0.3),
    "big": (Network(6, 1024, 4096, 32_000), 0.4),
}
LINKS = {8: 300e9, 64: 40e9}  # Bytes per second: NVLink in one host; 400 Gbit/s for each device.
LATENCY = 10e-6
PREPARED = 62_500  # Pairs per second of a core: measured, see the training guide.
READ = 253_000  # Pairs per second of a process: measured there, too.


def main():
    print(*lines(), sep="\n")


def lines():
    """Yields the lines of a Markdown table."""
    columns = [(name, devices) for name in NETWORKS for devices in LINKS]
    yield "| | " + " | ".join(f"{name}, {devices} devices" for name, devices in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    cells = [_plan(*column) for column in columns]
    for row in cells[0]:
        yield f"| {row} | " + " | ".join(one[row] for one in cells) + " |"


def _plan(name, devices):
    network, efficiency = NETWORKS[name]
    device = Device(efficiency * FLOPS, MEMORY, LINKS[devices], LATENCY)
    tokens = devices * TOKENS_OF_DEVICE
    step = step_time(network, device, devices, tokens, tokens)
    steps = PAIRS * TOKENS / ((1 - PADDING) * tokens)
    hours = steps * step.total / 3600
    pairs_per_second = PAIRS / (3600 * hours)
    return {
        "parameters": f"{network.parameters / 1e6:.0f} million",
        "ids of a batch, on each side": f"{tokens:,}",
        "steps of a pass": f"{steps:,.0f}",
        "ms a step: products, update, exchange": " + ".join(
            f"{1e3 * part:.1f}" for part in (step.compute, step.update, step.exchange)
        ),
        "target tokens a second": f"{(1 - PADDING) * tokens / step.total / 1e6:.1f} million",
        "hours of a pass": f"{hours:.1f}",
        "cost of a pass": f"{devices * hours * DOLLARS:,.0f} $",
        "pairs a second": f"{pairs_per_second:,.0f}",
        "processes that read them": f"{pairs_per_second / READ:.1f}",
        "a checkpoint": f"{4 * FLOAT32 * network.parameters / 1e9:.1f} GB",
    }


if __name__ == "__main__":
    main()
