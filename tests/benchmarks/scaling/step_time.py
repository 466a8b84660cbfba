"""How long a training step takes, from operations, bytes and links.

All devices hold the whole model and share each batch (data parallelism). A step has three parts:

- compute: the matrix products, shared by the devices;
- update: Adam reads and writes weights, gradients and moments, on each device the same;
- exchange: a ring sums the gradients of all devices: each sends and receives its 2 (n - 1) / n-th
  part of them ([Patarasuk and Yuan, 2009](https://doi.org/10.1016/j.jpdc.2008.09.002)).

None of these overlap here, so real steps can be shorter.
"""

from dataclasses import dataclass, replace

FLOAT32 = 4  # Bytes.
_PASSES_OF_ADAM = 9  # Reads weight, gradient, two moments, average; writes all but the gradient.


@dataclass(frozen=True)
class Network:
    """The model that is trained; see `kformer.Transformer`."""

    num_layers: int
    d_model: int
    d_ff: int
    vocab_size: int

    @property
    def encoder(self) -> int:
        """Weights of the encoder's matrices."""
        return self.num_layers * (4 * self.d_model**2 + 2 * self.d_model * self.d_ff)

    @property
    def decoder(self) -> int:
        """Weights of the decoder's matrices, which attend twice."""
        return self.num_layers * (8 * self.d_model**2 + 2 * self.d_model * self.d_ff)

    @property
    def parameters(self) -> int:
        """All weights, without biases and normalisation; one table for both sides."""
        return self.encoder + self.decoder + self.vocab_size * self.d_model

    def flops(self, source_tokens: int, target_tokens: int) -> float:
        """Returns the floating point operations of a step in products with weights.

        A multiplication and an addition for each weight and token; the backward pass is two more of
        each. Products of attention, which depend on the length, are few for sentences.
        """
        of_target = self.decoder + self.vocab_size * self.d_model
        return 6 * (source_tokens * self.encoder + target_tokens * of_target)


@dataclass(frozen=True)
class Device:
    """What one device can do.

    Attributes:
        flops: Operations per second in the products of this network.
        memory: Bytes per second read or written.
        link: Bytes per second to the next device, in each direction.
        latency: Seconds of each of the 2 (n - 1) messages of an exchange.
    """

    flops: float
    memory: float
    link: float
    latency: float = 0.0

    def shared(self, devices: int) -> "Device":
        """Returns what each device can do if as many share this one, as simulated devices do."""
        rates = (self.flops, self.memory, self.link)
        flops, memory, link = (rate / devices for rate in rates)
        return replace(self, flops=flops, memory=memory, link=link)


@dataclass(frozen=True)
class StepTime:
    """Seconds of the parts of a step."""

    compute: float
    update: float
    exchange: float

    @property
    def total(self) -> float:
        return self.compute + self.update + self.exchange


def step_time(
    network: Network, device: Device, devices: int, source_tokens: int, target_tokens: int
) -> StepTime:
    """Returns the time of a step of `devices` devices, with the tokens of all of them."""
    gradients = FLOAT32 * network.parameters
    sent = 2 * (devices - 1) / devices * gradients
    return StepTime(
        compute=network.flops(source_tokens, target_tokens) / (devices * device.flops),
        update=_PASSES_OF_ADAM * gradients / device.memory,
        exchange=sent / device.link + 2 * (devices - 1) * device.latency,
    )
