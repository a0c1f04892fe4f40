"""One worker of a synchronous training: a separate program, run by the Python that has PyTorch.

It must not import Crosswind, which that Python does not have. It prints `ready` when all workers are
connected, begins at SIGUSR1 (sent to rank 0 only), and prints `warm` before the measured steps.
"""

import argparse
import hashlib
import json
import signal
import time
from pathlib import Path

# Before the first import that starts threads: a thread that does not block the signal would end the process.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

CLASSES = 10
PIXELS = 28
# Batches that are made before the first step and used in turn.
BATCHES = 8
# The contrast is far above the noise of a pixel, so that the network learns within a few steps.
CONTRAST, NOISE = 1.0, 0.5
# With these values, networks of width 1 and 32 learn equally well.
LEARNING_RATE, MOMENTUM = 0.03, 0.9


def network(width: int) -> nn.Module:
    """Return the network of TensorFlow's tutorial on MNIST, where the width is 32."""
    return nn.Sequential(
        nn.Conv2d(1, width, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(49 * 2 * width, 32 * width),
        nn.ReLU(),
        nn.Linear(32 * width, CLASSES),
    )


def images(seed: int, rank: int, batch: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return batches of noisy images of ten patterns; all workers have the same patterns."""
    patterns = CONTRAST * torch.randn(
        CLASSES, 1, PIXELS, PIXELS, generator=torch.Generator().manual_seed(seed)
    )
    own = torch.Generator().manual_seed(seed + 1 + rank)
    batches = []
    for _ in range(BATCHES):
        labels = torch.randint(CLASSES, (batch,), generator=own)
        noise = NOISE * torch.randn(batch, 1, PIXELS, PIXELS, generator=own)
        batches.append((patterns[labels] + noise, labels))
    return batches


def traffic() -> tuple[int, int]:
    """Return the bytes that the node has received and sent, Ethernet headers included."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "eth0":
            counts = numbers.split()
            return int(counts[0]), int(counts[8])
    raise SystemExit("eth0 is not in /proc/net/dev")


def main() -> None:
    """Train the network and write the result."""
    arguments = argparse.ArgumentParser()
    for name in ("rank", "workers", "port", "width", "batch", "steps", "warm-up-steps", "seed"):
        arguments.add_argument(f"--{name}", type=int, required=True)
    arguments.add_argument("--master", required=True)
    arguments.add_argument("--pause", type=float, required=True, help="s between `warm` and the first step")
    arguments.add_argument("--result", type=Path, required=True)
    asked = arguments.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    # A generator accepts 63 bits.
    data = images(asked.seed % 2**62, asked.rank, asked.batch)
    dist.init_process_group(
        "gloo", init_method=f"tcp://{asked.master}:{asked.port}", rank=asked.rank, world_size=asked.workers
    )
    model = DistributedDataParallel(network(asked.width))
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    steps: list[tuple[int, int, float]] = []

    def step() -> None:
        started_ns = time.monotonic_ns()
        inputs, labels = data[len(steps) % BATCHES]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        # Exchanges buckets of gradients while others are computed; returns when all are exchanged.
        loss.backward()
        optimizer.step()
        steps.append((started_ns, time.monotonic_ns(), loss.item()))

    print("ready", flush=True)
    if asked.rank == 0:
        signal.sigwait({signal.SIGUSR1})
    dist.barrier()
    for _ in range(asked.warm_up_steps):
        step()
    if asked.rank == 0:
        print("warm", flush=True)
        time.sleep(asked.pause)
    dist.barrier()
    received, sent = traffic()
    cpu_ns = time.process_time_ns()
    for _ in range(asked.steps):
        step()
    cpu_ns = time.process_time_ns() - cpu_ns
    received_then, sent_then = traffic()
    # No worker ends while another one still exchanges gradients.
    dist.barrier()
    weights = hashlib.sha256()
    for part in model.parameters():
        weights.update(part.detach().numpy().tobytes())
    asked.result.write_text(
        json.dumps(
            {
                "rank": asked.rank,
                "torch": torch.__version__,
                "parameters": sum(part.numel() for part in model.parameters()),
                "steps": steps,
                "received_bytes": received_then - received,
                "sent_bytes": sent_then - sent,
                "cpu_ns": cpu_ns,
                "weights_sha256": weights.hexdigest(),
            }
        )
    )


if __name__ == "__main__":
    main()
