"""Text from a trained language model: what is drawn, and what tools/generate.py says to bad input."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import train
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch import nn

from hidden_dynamics.data import adding, prepared, text
from hidden_dynamics.errors import UserError
from hidden_dynamics.models.language_model import LanguageModel, LanguageOutput
from hidden_dynamics.models.recurrent.lstm import LSTM, NAGLSTM, SRLSTM, AdamLSTM, MomentumLSTM
from hidden_dynamics.results import generation
from tools import generate

WORDS = ["<eos>", "<unk>", "N", "the", "cat", "'s", "n't", "do", "mr.", "sleeps"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def model(core=MomentumLSTM, **options):
    """An untrained model of WORDS, its weights large enough that what it says depends on what it has read."""
    torch.manual_seed(1)
    options = options or {"mu": 0.9, "s": 0.6}
    task = SimpleNamespace(vocabulary_size=len(WORDS))
    dropouts = {"input": 0.5, "layer": 0.5, "output": 0.5, "weight": 0.5, "embedding": 0.5}
    network = LanguageModel(task, core, 8, 6, layers=2, dropouts=dropouts, **options)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return network


class Constant(nn.Module):
    """Says the same after every word, and notes what it reads."""

    def __init__(self, logits):
        super().__init__()
        self.logits, self.read = torch.as_tensor(logits), []

    def forward(self, words, carried=None):
        assert not self.training and not torch.is_grad_enabled()
        self.read.append((words.squeeze(1).tolist(), carried))
        logits = self.logits.expand(*words.shape, -1)
        return LanguageOutput(logits.clone(), logits, logits, (len(self.read),))


# What is drawn


def test_a_network_that_knows_one_word_says_it():
    network = Constant([0.0 if word == "cat" else -1e9 for word in WORDS])
    for temperature in (0, 0.1, 1, 7):
        assert list(generation.sample(network, WORDS, [], 5, temperature, generator())) == 5 * ["cat"]


def test_every_word_is_read_once_and_the_text_begins_after_the_end_of_a_line():
    network = Constant(torch.arange(len(WORDS)).float())
    assert list(generation.sample(network, WORDS, ["the", "cat"], 3, 0, generator())) == 3 * ["sleeps"]
    assert network.read == [([0, 3, 4], None), ([9], (1,)), ([9], (2,))]  # each with what the one before carried


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_words_come_as_often_as_the_softmax_says(temperature):
    logits = np.linspace(-1.5, 1.5, len(WORDS))[np.random.default_rng(0).permutation(len(WORDS))]
    drawn = Counter(generation.sample(Constant(logits), WORDS, [], 2000, temperature, generator(3)))
    weights = np.exp(logits / temperature)
    expected = 2000 * weights / weights.sum()
    assert stats.chisquare([drawn[word] for word in WORDS], expected).pvalue > 0.01
    if temperature != 1:  # which is not so for the softmax at temperature 1: the test can tell
        other = 2000 * np.exp(logits) / np.exp(logits).sum()
        assert stats.chisquare([drawn[word] for word in WORDS], other).pvalue < 1e-6


def test_excluded_words_do_not_come_and_the_others_keep_their_proportions():
    logits = torch.zeros(len(WORDS))
    logits[WORDS.index("<unk>")] = 20.0
    drawn = Counter(generation.sample(Constant(logits), WORDS, [], 3000, 1, generator(), ["<unk>", "no word"]))
    assert "<unk>" not in drawn and len(drawn) == len(WORDS) - 1
    assert stats.chisquare(list(drawn.values())).pvalue > 0.01
    assert "<unk>" not in set(generation.sample(Constant(logits), WORDS, [], 10, 0, generator(), ["<unk>"]))


def test_a_tiny_temperature_takes_the_likeliest():
    logits = torch.tensor([1000.0, *(len(WORDS) - 1) * [999.0]])
    assert set(generation.sample(Constant(logits), WORDS, [], 20, 1e-307, generator())) == {"<eos>"}


@pytest.mark.parametrize("temperature", [-1, -1e-9, float("nan"), float("inf")])
def test_other_temperatures_are_refused_before_any_word(temperature):
    with pytest.raises(UserError, match="temperature must be 0"):
        generation.sample(Constant(torch.zeros(len(WORDS))), WORDS, [], 1, temperature, generator())


@pytest.mark.parametrize(
    ("core", "options"),
    [
        (LSTM, {"forget_bias": 1.0}),
        (MomentumLSTM, {"mu": 0.9, "s": 0.6}),
        (NAGLSTM, {"s": 0.6}),
        (SRLSTM, {"s": 0.6, "restart": 3}),
        (AdamLSTM, {"mu": 0.6, "s": 0.6, "beta": 0.9}),
    ],
)
@pytest.mark.parametrize("prompt", [[], ["the", "cat"]])
def test_word_by_word_is_as_reading_the_whole_text(core, options, prompt):
    network, said = model(core, **options).double(), []
    network.register_forward_hook(lambda module, arguments, output: said.append(output.logits[-1, 0]))
    drawn = list(generation.sample(network, WORDS, prompt, 25, 1, generator()))
    assert len(said) == 25 and len(set(drawn)) > 3
    whole = torch.tensor([WORDS.index(word) for word in ["<eos>", *prompt, *drawn[:-1]]]).unsqueeze(1)
    with torch.no_grad():
        expected = network(whole).logits[len(prompt) :, 0]
    torch.testing.assert_close(torch.stack(said[:25]), expected, rtol=1e-11, atol=1e-11)
    likeliest = list(generation.sample(network, WORDS, [*prompt, *drawn[:9]], 1, 0, generator()))
    assert likeliest == [WORDS[int(expected[9].argmax())]]


def test_the_same_seed_gives_the_same_text_whatever_else_is_drawn():
    def drawn(seed, words=40):
        torch.manual_seed(len(texts))  # the generator of the rest of the program
        return list(generation.sample(model(), WORDS, ["the"], words, 1, generator(seed)))

    texts = []
    for seed in (0, 0, 1):
        texts.append(drawn(seed))
    assert texts[0] == texts[1] != texts[2]
    assert drawn(0, 10) == texts[0][:10]


def test_words_are_drawn_when_they_are_asked_for_and_gradients_go_on_elsewhere():
    network = Constant(torch.zeros(len(WORDS)))
    drawn = generation.sample(network, WORDS, [], 10**9, 1, generator())
    assert len(list(islice(drawn, 3))) == 3 and len(network.read) == 3
    assert torch.is_grad_enabled()


# The prompt, and the text


@pytest.mark.parametrize(
    ("prompt", "expected", "missing"),
    [
        ("", [], []),
        ("the cat sleeps", ["the", "cat", "sleeps"], []),
        ("  The CAT\tsleeps. ", ["the", "cat", "sleeps"], []),
        ("Mr. cat", ["mr.", "cat"], []),
        ("the cat's 12 1,000.5", ["the", "cat", "'s", "N", "N"], []),
        ("don't <unk> N <eos>", ["do", "n't", "<unk>", "N", "<eos>"], []),
        ("The dog sleeps -- , !", ["the", "<unk>", "sleeps"], ["dog"]),
    ],
)
def test_a_prompt_is_read_as_the_data_was(prompt, expected, missing):
    assert generation.read_prompt(prompt, WORDS) == (expected, missing)


def test_a_word_that_cannot_be_unknown_is_refused():
    with pytest.raises(UserError, match="not in the vocabulary.*: dog, bird"):
        generation.read_prompt("the dog cat bird", ["<eos>", "the", "cat"])


@given(st.lists(st.sampled_from(WORDS)))
def test_the_text_has_the_words_and_ends_its_lines(words):
    written = "".join(generation.as_text(words))
    assert [word for line in written.splitlines() for word in (*line.split(" "), "<eos>") if word] == [
        *words,
        *(["<eos>"] if words and words[-1] != "<eos>" else []),
    ]
    assert written == "" or (written[-1] == "\n" and " \n" not in written and "\n " not in written)


# tools/generate.py


class Workplace:
    """A directory with a small text prepared as `python_topics`, and trained runs: a language model's, and another."""

    def __init__(self, root: Path):
        self.root, self.run = root, root / "results/demo/runs/ptb/momentum_lstm-n6/seed0"
        self.data = root / "data/prepared/python_topics-vocabulary10.npz"
        self.prepare("the cat sleeps", "the cat 's N", "mr. <unk> do n't")
        self.settings = {
            "results": str(root / "results"),
            "data": {"directory": str(root / "data")},
            "device": "cpu",
            "overrides": {"tasks": {"ptb": self.language(), "adding": self.adding()}},
        }

    def prepare(self, *lines: str) -> None:
        about = {"dataset": "python_topics", "title": "A text", "stand_in_for": "ptb"}
        splits = {split: 20 * [line.split() for line in lines] for split in text.SPLITS}
        prepared.save(self.data, text.number(splits), about)

    def language(self, **training):
        return {
            "data": {"vocabulary": 10},
            "sizes": {1150: 6},
            "hyperparameters": {"embedding_size": 5},
            "settings": {"bptt": 10, "evaluation_batch_sizes": {"validation": 2}},
            "training": {"batch_size": 4, "epochs": 2, **training},
        }

    def adding(self):
        options = {"length": 6, "seed": 0, "test_size": 16}
        about = {"dataset": "adding", "title": "Adding", "stand_in_for": None}
        prepared.save(
            self.root / "data/prepared/adding-length6-seed0-test_size16.npz", adding.prepare(None, options), about
        )
        training = {"epochs": 1, "batch_size": 4}
        return {"data": {"length": 6, "test_size": 16}, "sizes": {128: 4}, "training": training}

    def train(self, task="ptb", model="momentum_lstm-n6", **training) -> None:
        config = {**self.settings, "overrides": {"tasks": {task: getattr(self, task.replace("ptb", "language"))()}}}
        config["overrides"]["tasks"][task]["training"] |= training
        arguments = ["--task", task, "--model", model, "--seed", "0", "--config", json.dumps(config)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["train.py", *arguments])
            train.main()

    def record(self) -> dict:
        return json.loads((self.run / "run.json").read_text())

    def say(self, **changes) -> None:
        """Write the run's record with other content, and as before there were seals: what is altered is read."""
        record = {key: value for key, value in self.record().items() if key != "seal"}
        (self.run / "run.json").write_text(json.dumps(record | changes))


@pytest.fixture
def workplace(tmp_path):
    return Workplace(tmp_path)


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    workplace = Workplace(tmp_path_factory.mktemp("trained"))
    workplace.train()
    return workplace


@pytest.fixture
def trained(trained_once, workplace):
    """A copy of a trained run, and of its data."""
    shutil.copytree(trained_once.root, workplace.root, dirs_exist_ok=True)
    return workplace


@pytest.fixture
def call(ended, capsys):
    """The script's exit code, and what it wrote to stdout and stderr."""

    def run(workplace, *arguments, directory=None, config=None):
        capsys.readouterr()
        config = json.dumps(config or workplace.settings)
        return ended(generate.main, directory or workplace.run, "--config", config, *arguments)

    return run


def words_in(out):
    return [word for line in out.splitlines() for word in (*line.split(), "<eos>")]


def test_a_trained_run_writes_the_same_text_for_the_same_seed(trained, call):
    texts = [call(trained, "--words", "60", "--seed", seed) for seed in "001"]
    assert texts[0] == texts[1] and texts[0] != texts[2]
    code, out, err = texts[0]
    assert (code, err) == (0, "") and out.endswith("\n")
    assert len(words_in(out)) in (60, 61)  # the last line's end may not have been drawn
    assert set(words_in(out)) <= set(prepared.load(trained.data).arrays["vocabulary"].tolist())


def test_it_has_the_best_weights_and_the_likeliest_words_are_theirs(trained, call):
    _, out, _ = call(trained, "--words", "12", "--temperature", "0", "--prompt", "the cat")
    task = SimpleNamespace(vocabulary_size=len(prepared.load(trained.data).arrays["vocabulary"]))
    network = LanguageModel(task, MomentumLSTM, 6, 5, layers=2, mu=0.0, s=0.6).eval()
    network.load_state_dict(torch.load(trained.run / "model.pt"))
    vocabulary = prepared.load(trained.data).arrays["vocabulary"].tolist()
    assert out.startswith("the cat") and words_in(out)[2:14] == list(
        generation.sample(network, vocabulary, ["the", "cat"], 12, 0, generator())
    )


def test_the_prompt_begins_the_text_and_its_unknown_words_are_named(trained, call):
    code, out, err = call(trained, "--prompt", "The cat's zebra Yak", "--words", "3")
    assert code == 0 and out.startswith("the cat 's <unk> <unk>") and "zebra, yak" in err


def test_the_unknown_word_can_be_left_out(trained, call):
    assert "<unk>" in call(trained, "--words", "100")[1]
    assert "<unk>" not in call(trained, "--words", "100", "--no-unknown")[1]


def test_what_is_configured_now_does_not_count(trained, call):
    before = call(trained, "--words", "30")
    changed = {"sizes": {1150: 9}, "hyperparameters": {"layers": 1}, "dataset": "ptb", "settings": {"bptt": 3}}
    config = trained.settings | {"scale": "paper", "precision": "tf32", "overrides": {"tasks": {"ptb": changed}}}
    assert call(trained, "--words", "30", config=config) == before


def test_it_runs_as_a_program_and_a_reader_may_stop(trained):
    command = [sys.executable, ROOT / "tools/generate.py", trained.run, "--words", "100000"]
    command += ["--config", json.dumps(trained.settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=trained.root) as process:
        assert process.stdout.read(200)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# Bad input


def complaint(result):
    code, out, err = result
    assert (code, out) == (1, "") and err.startswith("error: ") and err.count("\n") == 1
    return err


def test_what_is_no_run(trained, call):
    assert "is not the directory of a run" in complaint(call(trained, directory=trained.root))
    assert "is not the directory of a run" in complaint(call(trained, directory=trained.root / "nowhere"))
    assert "is not the directory of a run" in complaint(call(trained, directory=trained.run / "run.json"))


def test_a_run_that_has_not_finished(trained, call):
    (trained.run / "run.json").unlink()
    assert "has not finished" in complaint(call(trained))


@pytest.mark.parametrize("content", ["", "[]", "{", '{"spec": {}, "run": "a/b/c"}', '{"run": "a"}', '"text"'])
def test_a_record_that_is_none(trained, call, content):
    (trained.run / "run.json").write_text(content)
    assert re.search("run.json is not (the record of a run|readable)", complaint(call(trained)))


def test_a_run_that_diverged_before_its_first_evaluation(workplace, call):
    workplace.train(optimisers={"main": {"lr": 1e30}}, clip_norm=1e30)
    assert workplace.record()["reported"] is None
    assert "and left no weights that were ever good" in complaint(call(workplace))


def test_a_run_that_diverged_later_writes_with_its_best_weights_and_says_so(trained, call):
    before = call(trained)
    trained.say(status="diverged", diverged_at=17)
    code, out, err = call(trained)
    assert (code, out) == before[:2] and "diverged at iteration 17" in err


def test_a_run_of_another_task(workplace, call):
    workplace.train("adding", "lstm-n4")
    run = workplace.root / "results/demo/runs/adding/lstm-n4/seed0"
    assert "adding/lstm-n4/seed0 is no language model" in complaint(call(workplace, directory=run))


def test_data_that_was_prepared_anew(trained, call):
    trained.prepare("the cat sleeps", "a cat does n't")
    said = complaint(call(trained))
    assert str(trained.data) in said and "prepared anew" in said and trained.record()["dataset"]["digest"] in said


def test_data_that_is_missing(trained, call):
    trained.data.unlink()
    assert f"{trained.data} cannot be used: it is missing" in complaint(call(trained))


def test_weights_that_are_missing_damaged_or_of_another_vocabulary(trained, call):
    path = trained.run / "model.pt"
    whole = path.read_bytes()
    weights = torch.load(path)
    torch.save(weights | {"bias": weights["bias"][:-1]}, path)
    assert "model.pt was altered since its run wrote it" in complaint(call(trained))
    trained.say()
    assert "does not hold the weights" in complaint(call(trained))
    for content in (b"", whole[: len(whole) // 2], b"text"):
        path.write_bytes(content)
        assert "does not hold the weights" in complaint(call(trained))
    path.unlink()
    assert "model.pt is missing" in complaint(call(trained))


def test_arguments_out_of_range(trained, call):
    assert "temperature must be 0" in complaint(call(trained, "--temperature", "-0.5"))
    for arguments in (["--words", "0"], ["--seed", "-1"], ["--temperature", "warm"]):
        assert call(trained, *arguments)[0] == 2
    assert "--config is not valid JSON" in complaint(call(trained, "--config", "{"))
