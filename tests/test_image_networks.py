"""Networks of images: sizes and parameters as published and released, and their equations in plain form."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import assert_all_close, convolutions_of, noise, norms_of
from raw import noise_images
from series_cases import count, gradients_of, shaken
from torch.nn import functional
from torchdiffeq import odeint

from hidden_dynamics.configuration.runs import resolve
from hidden_dynamics.models.image_networks import ACEODENet, ODENet, ResNet
from hidden_dynamics.tasks.images import ImageClassification
from hidden_dynamics.training.building import build

CPU = torch.device("cpu")
SHAPES = {"mnist_images": (28, 28, 1), "svhn_images": (32, 32, 3), "cifar10_images": (32, 32, 3)}
LOOSE = {"rtol": 1e-3, "atol": 1e-3, "adjoint": False}
PENALTY = {"weight": 0.1, "norm": 2, "of": "logits"}
TASK = SimpleNamespace(channels=3, classes=4)


def as_configured(configured, task, model, variant="published"):
    """The task, on arrays of the papers' shapes, and the network of a run."""
    few = {name: {"settings": {"validation": 2}} for name in SHAPES}
    configuration = configured(scale="paper", variants={"default": variant}, overrides={"tasks": few})
    size = 128 if model.endswith("large") else 64
    arrays = noise_images(*SHAPES[task], train=5, test=5)
    return build(resolve(configuration, task, model, size, 0), arrays, CPU)


def tiny(penalty, **layers):
    torch.manual_seed(1)
    network = shaken(ACEODENet(TASK, 4, 1, LOOSE, penalty, **layers))
    with torch.no_grad():
        for dynamics in (network.integral.dynamics.f, network.integral.dynamics.g):
            norms_of(dynamics)[-1].weight.mul_(0.1)  # gentle: a kink of the rectifiers costs many steps
    return network


def images(side=8):
    return noise(5, 3, side, side, seed=99).abs()


MODELS = ("resnet", "ode_net", "rknet", "augmented_ode_net", "ace_ode_net", "ace_ode_net_large")
COUNTS = {  # of each model, and of one that was released with others, published and released (facts, Section 4)
    "mnist_images": (576_778, 208_266, 208_266, 220_426, (283_338, 320_970), 1_272_714),
    "svhn_images": (577_930, 209_418, 209_418, 221_578, (321_418, 359_050), 1_422_602),
    "cifar10_images": (577_930, 209_418, 209_418, 221_578, 359_050, 1_275_018),
}
PARAMETERS = {(task, model): count for task, each in COUNTS.items() for model, count in zip(MODELS, each, strict=True)}
MAPS = {
    # task, whether with attention: published, released, each when trained and when evaluated (facts, Section 1.1)
    ("mnist_images", "ode_net"): ((6, 6), (6, 6)),
    ("mnist_images", "ace_ode_net"): ((6, 6), (6, 6)),
    ("svhn_images", "ode_net"): ((8, 8), (7, 7)),
    ("svhn_images", "ace_ode_net"): ((8, 8), (8, 8)),
    ("cifar10_images", "ode_net"): ((7, 7), (6, 7)),
    ("cifar10_images", "ace_ode_net"): ((7, 7), (7, 8)),
}


def test_every_model_of_images_is_counted(configured):
    tasks = configured(scale="paper").tasks
    assert {(task, model) for task in SHAPES for model in tasks[task].models} == set(PARAMETERS)


@pytest.mark.parametrize("variant", ["published", "released"])
@pytest.mark.parametrize(("task", "model"), PARAMETERS)
def test_parameters_and_sizes_of_maps_are_those_of_the_paper_and_of_the_released_code(configured, task, model, variant):
    data, network = as_configured(configured, task, model, variant)
    expected = PARAMETERS[task, model]
    assert count(network) == (expected if isinstance(expected, int) else expected[variant == "released"])
    if (task, model) in MAPS:
        trained, _ = data.batch(0, np.arange(2))
        ((evaluated, _),) = data.evaluation_batches("test")
        for given, side in zip((trained, evaluated), MAPS[task, model][variant == "released"], strict=True):
            assert network.stem(given).shape == (len(given), 64, side, side)


def normed(x, norm):
    return functional.group_norm(x, norm.num_groups, norm.weight, norm.bias)


def convolved(x, convolution, t=None, **options):
    """With the time as the first channel, where there is one."""
    if t is not None:
        x = torch.cat([t * torch.ones_like(x[:, :1]), x], 1)
    return functional.conv2d(x, convolution.weight, convolution.bias, **options)


def plain_stem(stem, x, padding):
    convolutions, norms = convolutions_of(stem), norms_of(stem)
    x = functional.relu(normed(convolved(x, convolutions[0], padding=padding), norms[0]))
    x = functional.relu(normed(convolved(x, convolutions[1], stride=2, padding=1), norms[1]))
    return convolved(x, convolutions[2], stride=2, padding=1)


def plain_layers(module, x, t=None):
    """GroupNorm, and for each convolution: ReLU, the convolution, GroupNorm: f, g and q."""
    first, *norms = norms_of(module)
    convolutions = convolutions_of(module)
    x = normed(x, first)
    for convolution, norm in zip(convolutions, norms, strict=False):
        x = normed(convolved(functional.relu(x), convolution, t, padding=1), norm)
    for norm in norms[len(convolutions) :]:  # q with one convolution
        x = normed(functional.relu(x), norm)
    return x


def plain_head(head, x):
    (norm,) = norms_of(head)
    return functional.relu(normed(x, norm)).mean(dim=(2, 3)) @ head.readout.weight.t() + head.readout.bias


def final(function, start):
    """The solution at 1, and the number of evaluations."""
    calls = []

    def counting(t, y):
        calls.append(t)
        return function(t, y)

    times = torch.tensor([0.0, 1.0], dtype=torch.float64)
    return odeint(counting, start, times, method="dopri5", rtol=1e-3, atol=1e-3)[1], len(calls)


@pytest.mark.parametrize("padding", [0, 1])
def test_a_resnet_is_six_residual_blocks_without_biases(padding):
    torch.manual_seed(0)
    network = ResNet(TASK, 4, padding).double()
    x = plain_stem(network.stem, images(side=12), padding)
    norms = norms_of(network.blocks)
    convolutions = convolutions_of(network.blocks)
    assert len(norms) == len(convolutions) == 12 and all(part.bias is None for part in convolutions)
    for k in range(0, 12, 2):
        y = convolved(functional.relu(normed(x, norms[k])), convolutions[k], padding=1)
        x = x + convolved(functional.relu(normed(y, norms[k + 1])), convolutions[k + 1], padding=1)
    output, expected = network(images(side=12)), plain_head(network.head, x)
    assert output.attention is None
    found = [[logits.detach(), *gradients_of(logits.square().sum(), network)] for logits in (output.logits, expected)]
    assert_all_close(*found, 1e-11)


@pytest.mark.parametrize("augmented", [0, 3])
def test_an_ode_net_is_a_stem_a_solution_and_a_head(augmented):
    torch.manual_seed(0)
    network = ODENet(TASK, 4, 1, LOOSE, augmented).double()
    output = network(images())
    start = plain_stem(network.stem, images(), 1)
    start = torch.cat([start, torch.zeros(5, augmented, 2, 2, dtype=torch.float64)], 1)
    f = network.integral.dynamics
    end, evaluations = final(lambda t, h: plain_layers(f, h, t), start)
    assert network.function_evaluations.forward == evaluations
    expected = plain_head(network.head, end)
    found = [[logits.detach(), *gradients_of(logits.square().sum(), network)] for logits in (output.logits, expected)]
    assert_all_close([output.state, *found[0]], [end, *found[1]], 1e-9)
    assert output.state.shape == (5, 4 + augmented, 2, 2) and output.attention is None


def test_rknet_takes_one_step_of_four_evaluations(configured):
    task, network = as_configured(configured, "mnist_images", "rknet")
    task.loss(network, task.batch(0, np.arange(2))).backward()
    assert vars(network.function_evaluations) == {"forward": 4, "backward": 4}


@pytest.mark.parametrize("penalty", [PENALTY, {"weight": 0.2, "norm": 1, "of": "logits"}], ids=["l2", "l1"])
@pytest.mark.parametrize("layers", [(2, 2, 2), (1, 2, 1)], ids=str)
def test_trained_all_together_it_is_the_released_code_with_both_states_in_one_batch(penalty, layers):
    """Loss, all gradients and evaluations. The tolerances are loose: the steps are the same."""
    network = tiny(penalty, **dict(zip(("f_layers", "g_layers", "q_layers"), layers, strict=True)))
    pair, given, labels = network.integral.dynamics, images(), torch.tensor([0, 3, 1, 1, 2])

    def released(t, both):
        h, a = both.chunk(2)
        attended = h * torch.sigmoid(a)
        return torch.cat([plain_layers(pair.f, attended, t), plain_layers(pair.g, attended, t)])

    loss = ImageClassification.loss(None, network, (given, labels))
    start = plain_stem(network.stem, given, 1)
    end, evaluations = final(released, torch.cat([start, plain_layers(network.q, start)]))
    assert network.function_evaluations.forward == evaluations
    logits, of_attention = plain_head(network.head, end).chunk(2)
    power, error = penalty["norm"], -logits.log_softmax(1)[torch.arange(5), labels].mean()
    expected = error + penalty["weight"] * (of_attention.abs() ** power).sum() ** (1 / power)
    found = [[value.detach(), *gradients_of(value, network)] for value in (loss, expected)]
    assert_all_close(*found, 1e-9)
    assert all(gradient.any() for gradient in found[0][1:])


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("of", ["parameters", "logits"])
def test_the_penalty_is_a_norm_of_all_its_numbers_for_the_attention_alone(of, norm):
    network = tiny({"weight": 0.3, "norm": norm, "of": of})
    output = network(images())
    if of == "parameters":
        numbers = torch.nn.utils.parameters_to_vector(network.integral.dynamics.g.parameters())
    else:
        numbers = plain_head(network.head, output.attention).flatten()
        assert len(numbers) == 5 * TASK.classes
    expected = 0.3 * np.linalg.norm(numbers.detach(), norm)
    assert network.penalty(output).item() == pytest.approx(expected, rel=1e-12)
    assert network.penalty(output, "attention").item() == pytest.approx(expected, rel=1e-12)
    assert network.penalty(output, "hidden") == 0.0
    labels = torch.tensor([0, 3, 1, 1, 2])
    error = functional.cross_entropy(output.logits, labels).item()
    for part, penalty in ((None, expected), ("attention", expected), ("hidden", 0.0)):
        loss = ImageClassification.loss(None, network, (images(), labels), part)
        assert loss.item() == pytest.approx(error + penalty, rel=1e-12)


@pytest.mark.parametrize("network", [ResNet(TASK, 4, 1), ODENet(TASK, 4, 1, LOOSE)], ids=["ResNet", "ODENet"])
def test_without_attention_there_is_no_penalty_and_there_are_no_parts(network):
    assert network.penalty(network(images().float())) == 0.0
    assert not hasattr(network, "parts")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"f_layers": 0}, "at least one layer"),
        ({"q_layers": 0}, "one layer or two, not 0"),
        ({"q_layers": 3}, "one layer or two, not 3"),
        ({"penalty": PENALTY | {"weight": float("nan")}}, "penalty.*nan"),
        ({"penalty": PENALTY | {"of": "weights"}}, "penalty.*weights"),
    ],
    ids=str,
)
def test_arguments_out_of_their_range_are_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        ACEODENet(TASK, 4, 1, LOOSE, **{"penalty": PENALTY} | options)
