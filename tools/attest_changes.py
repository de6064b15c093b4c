"""Deliberate changes of what a run computes: each must change the digest of the runs that it reaches, and none of these
may be found equal (tools/attest.py --self-test, tests/test_digest.py)."""

from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple


class Change(NamedTuple):
    """A change of a file of the library.

    Attributes:
        what: in words.
        file, old, new: the text `old`, which stands in the file, is replaced.
        tried: runs of `demo` that notice it within a few iterations, "task/model".
        where: patterns of the tasks and models that it reaches.
    """

    what: str
    file: str
    old: str
    new: str
    tried: str
    where: str = "*"

    def reaches(self, task: str, model: str) -> bool:
        return any(fnmatch(name, pattern) for name in (task, model) for pattern in self.where.split())

    def apply(self, root: Path) -> None:
        """Make it in a copy of the project."""
        path = root / "hidden_dynamics" / self.file
        text = path.read_text(encoding="utf-8")
        assert self.old in text, f"{self.file} has no {self.old!r} any more"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


CHANGES = [
    Change(
        "filter: momentum grows by a rounding",
        "models/momentum/filters.py",
        "v = linear_recurrence(s * g, mu, state)",
        "v = linear_recurrence(s * g, mu * (1 + 1e-7), state)",
        "mnist/momentum_lstm timit_dtriv/momentum_dtriv",
        "momentum_* scaled_* *gain_*",
    ),
    Change(
        "filter: Nesterov's sequence",
        "models/momentum/filters.py",
        "return j / (j + 3)",
        "return j / (j + 4)",
        "copying_1k/sr_lstm pmnist_dtriv/sr_dtriv",
        "sr_* nag_*",
    ),
    Change(
        "core: Adam's epsilon outside the root, too",
        "models/recurrent/adam_lstm.py",
        "torch.addcmul(bias, p, torch.rsqrt(n, out=scratch), out=a_t)",
        "torch.addcmul(bias, p, torch.sqrt(n, out=scratch).add_(1e-8).reciprocal_(), out=a_t)",
        "adding/adam_lstm timit/rmsprop_lstm",
        "lstm *??_lstm",
    ),
    Change(
        "core: modReLU without ReLU",
        "models/recurrent/modrelu.py",
        "torch.addcmul(bias, z, sign, out=size).relu_()",
        "torch.addcmul(bias, z, sign, out=size)",
        "pmnist_dtriv/dtriv timit_dtriv/dtriv",
        "*dtriv",
    ),
    Change(
        "initialisation: weights uniform, not orthogonal",
        "models/recurrent/lstm.py",
        "                _orthogonal(parameter)",
        "                nn.init.uniform_(parameter, -0.1, 0.1)",
        "adding/lstm mnist/lstm",
        "lstm *??_lstm",
    ),
    Change(
        "initialisation: embeddings",
        "models/language_model.py",
        "EMBEDDING_RANGE = 0.1",
        "EMBEDDING_RANGE = 0.2",
        "ptb/lstm ptb/sr_lstm",
        "ptb*",
    ),
    Change(
        "network: a block fewer",
        "models/image_networks.py",
        "BLOCKS = 6",
        "BLOCKS = 5",
        "mnist_images/resnet cifar10_images/resnet",
        "resnet",
    ),
    Change(
        "order of draws: one before the network is made",
        "training/building.py",
        'torch.manual_seed(run.spec["seed"])',
        'torch.manual_seed(run.spec["seed"])\n    torch.rand(())',
        "copying_1k/lstm ushcn/gru_d",
    ),
    Change(
        "optimiser: gradients doubled",
        "training/optimisers.py",
        "loss.backward()",
        "(2 * loss).backward()",
        "mnist/rmsprop_lstm mnist_images/ode_net",
    ),
    Change(
        "clipping: a norm twice as large",
        "training/optimisers.py",
        "network.parameters(), clip_norm)",
        "network.parameters(), 2 * clip_norm)",
        "ptb/momentum_lstm ptb/adam_lstm",
    ),
    Change(
        "rate: the drop comes an iteration later",
        "tasks/schedule.py",
        "iteration >= epoch * self.per_epoch for epoch",
        "iteration > epoch * self.per_epoch for epoch",
        "mnist_images/resnet svhn_images/resnet",
    ),
    Change(
        "rate: no floor to its decay",
        "tasks/schedule.py",
        'max(self.rates.get("floor", 0.0), self.rates.get("decay", 1.0)',
        'max(0.0, self.rates.get("decay", 1.0)',
        "physionet_released/rnn_decay physionet_released/rnn_vae",
    ),
    Change(
        "averaging: every second step is left out",
        "training/loop.py",
        "if run.average is not None:\n        run.average.update",
        "if run.average is not None and run.history.iteration % 2:\n        run.average.update",
        "ptb/lstm ptb_ablation/momentum_lstm",
    ),
    Change(
        "order of examples: as of the next epoch",
        "tasks/schedule.py",
        'generator(seed, "order", epoch)',
        'generator(seed, "order", epoch + 1)',
        "timit/lstm physionet/rnn_delta",
    ),
    Change(
        "streams: another generator",
        "data/streams.py",
        "np.random.PCG64(",
        "np.random.Philox(",
        "adding/sr_lstm copying_2k/lstm",
    ),
    Change(
        "data: another permutation",
        "tasks/pixels.py",
        "FIXED_PERMUTATION = 92916",
        "FIXED_PERMUTATION = 92917",
        "pmnist/lstm pmnist_gradients/dtriv",
        "mnist pmnist* mnist_ablation",
    ),
    Change(
        "data: other images held out",
        "tasks/images.py",
        "HELD_OUT_SEED = 0",
        "HELD_OUT_SEED = 1",
        "svhn_images/resnet mnist_images/rknet",
        "*_images",
    ),
    Change(
        "evaluation: the mean loss leaves out a minibatch",
        "training/loop.py",
        'before = int(history.metrics[-1]["iteration"])',
        'before = 1 + int(history.metrics[-1]["iteration"])',
        "adding/lstm mnist/lstm",
    ),
    Change(
        "evaluation: an accuracy rounded",
        "tasks/pixels.py",
        '"test_accuracy": correct / len(self.test_labels)',
        '"test_accuracy": round(correct / len(self.test_labels), 2)',
        "mnist/lstm pmnist/sr_lstm",
        "mnist pmnist* mnist_ablation",
    ),
    Change(
        "evaluation: batches of another size",
        "tasks/pixels.py",
        "TEST_BATCH = 500",
        "TEST_BATCH = 499",
        "mnist/lstm pmnist_dtriv/sr_dtriv",
        "mnist pmnist* mnist_ablation",
    ),
    Change(
        "core: what rounding has done is undone later",
        "models/recurrent/trivialisation.py",
        "PROJECTION_INTERVAL = 100",
        "PROJECTION_INTERVAL = 101",
        "pmnist_dtriv/dtriv pmnist_gradients/momentum_dtriv",
        "*dtriv",
    ),
    Change(
        "test: at the last weights, not those reported",
        "training/loop.py",
        "run.network.load_state_dict(weights)",
        "pass",
        "physionet/rnn_vae mnist_images/resnet",
    ),
    Change(
        "loss: a millionth more",
        "tasks/speech.py",
        "return functional.mse_loss(network(x, lengths), targets)",
        "return functional.mse_loss(network(x, lengths), targets) * (1 + 1e-6)",
        "timit/lstm timit_dtriv/dtriv",
        "timit*",
    ),
    Change(
        "loss: the Kullback-Leibler weight grows faster",
        "tasks/partly_observed.py",
        "WITHOUT_DIVERGENCE, GROWTH = 10, 0.99",
        "WITHOUT_DIVERGENCE, GROWTH = 10, 0.98",
        "physionet/latent_ode physionet_interpolation/rnn_vae",
        "physionet* human_activity",
    ),
    Change(
        "evaluation: what is latent is not drawn anew",
        "tasks/partly_observed.py",
        "torch.manual_seed(EVALUATION_SEED)",
        "pass",
        "physionet/latent_ode physionet_interpolation/rnn_vae",
        "physionet* human_activity",
    ),
    Change(
        "solver: a tolerance of its own",
        "models/continuous/integral.py",
        '"rtol": self.solver.rtol',
        '"rtol": 0.9 * self.solver.rtol',
        "mnist_images/ode_net physionet/latent_ode",
        "*latent_ode* neural_ode_vae* *ode_net* rknet",
    ),
    Change(
        "decay between observations: gradients at a tie",
        "models/latent_family/rnn_baselines.py",
        "torch.exp(-torch.minimum(torch.maximum(lowest, exponent), highest))",
        "torch.exp(-exponent.clamp(min=0, max=LARGEST))",
        "human_activity/rnn_impute human_activity/rnn_gru_d",
        "rnn_d* rnn_[ig]*",
    ),
]
