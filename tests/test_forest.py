"""Questions, each answered by a forest plot: which comparisons are drawn, where, and how; the errors over all tests."""

import math
import re

import pytest
from approved import approved
from conftest import refused
from drawn import artifact_at, face, legend, legends_of, with_gid, words
from made import sources_of
from matplotlib.colors import to_rgb
from scipy.stats import false_discovery_control

from hidden_dynamics.artifacts import load_artifacts
from hidden_dynamics.artifacts.kinds.forest import NOTHING
from hidden_dynamics.artifacts.sheet import save
from hidden_dynamics.claims.multiplicity import in_a_sentence
from hidden_dynamics.claims.verdict import COLUMNS, word
from hidden_dynamics.pages.first_screen import answer
from hidden_dynamics.publication.findings import page
from hidden_dynamics.publication.publishing import place_of

MOMENTUM, ADAM = "momentumrnn_momentum", "momentumrnn_adam"
TABLE, FIGURE = "momentumrnn_table2", "momentumrnn_figure3"
INSTEAD = {"deviations": "N = 84, not 158", "data": "Spoken digits in place of TIMIT"}


def claim(subject, reference, verdict="holds", effect=1.0, task="timit", metric="test_loss", **more):
    """A row of claims.csv: a comparison that counts, half a deviation (of 0.1) sure either way, adjusted twice that."""
    ends, way = {}, 1 if metric in ("test_accuracy", "test_auc") else -1
    shown = (lambda end: math.exp(-end)) if more.get("kind") == "faster" else lambda end: 0.1 * way * end
    if effect is not None:
        ends = {"effect": effect, "effect_low": effect - 0.5, "effect_high": effect + 0.5, "level": 0.95}
        ends["estimate"] = shown(effect)
        for suffix, half in (("", 0.5), ("_adjusted", 1.0)):
            ends["low" + suffix], ends["high" + suffix] = sorted(map(shown, (effect - half, effect + half)))
    about = {
        "kind": "better",
        "artifact": TABLE,
        "task": task,
        "metric": metric,
        "subject": subject,
        "reference": reference,
    }
    about |= {"id": f"{task}:{metric}:{subject}:{reference}", "verdict": verdict, "counted": "true", "p": "0.01"}
    about |= {"p_adjusted": "0.02", "source": "Table 2", "ran": f"{subject} is better than {reference}."}
    return {name: str(value) for name, value in (dict.fromkeys(COLUMNS, "") | about | ends | more).items()}


IDLE_SIDES = {"nothing_learned": "both", "reason": "no learning shown: neither beat the majority class"}
CLAIMS = [
    claim("momentum_lstm-n84", "lstm-n84", "undecided", 0.25, published_effect=21.5, **INSTEAD),
    claim("momentum_lstm-n158", "lstm-n158", "fails", -12.0, critic="I doubt it (https://a.b)", plan="M3, 482fee51"),
    claim("sr_lstm-n158", "lstm-n158", "holds", 3.0, nothing_learned="reference"),
    claim("lstm-n158", "momentum_lstm-n158", "holds", 2.0, kind="faster", metric="train_loss", artifact=FIGURE),
    claim("momentum_lstm-n128", "lstm-n128", "undecided", 9.0, "pmnist", "test_accuracy", **IDLE_SIDES),
    claim("momentum_lstm-n256", "lstm-n256", "holds", 0.5, "mnist", "test_accuracy"),
    claim("momentum_lstm-n1150", "lstm-n1150", "fails", -2.0, "ptb", "test_perplexity"),  # mu = 0
    claim("momentum_lstm-n120", "lstm-n120", "undecided", None, reason="fewer than 3 seeds are not tested"),
]
ELSEWHERE = [
    claim("momentum_lstm-n120", "lstm-n120", counted="false", metric="validation_loss"),
    claim("momentum_lstm-n120", "lstm-n120", kind="similar"),
    claim("momentum_lstm-n158", "sr_lstm-n158"),
    claim("adam_lstm-n158", "lstm-n158"),
]


def forest(claims, name=MOMENTUM, scale="paper"):
    artifact = artifact_at(scale, name)
    return artifact, artifact.draw(sources_of(artifact, claims=claims))


def drawn(figure):
    """The names of the rows and headings, from top to bottom."""
    labels = [*with_gid(figure, "label"), *with_gid(figure, "heading")]
    return [text.get_text().strip() for text in sorted(labels, key=lambda text: text.get_position()[1])]


def mark(figure, gid):
    """Where the only mark of this name is, its colour and shape."""
    (found,) = with_gid(figure, gid)
    return found.get_xdata()[0], found.get_color(), found.get_marker()


def ends(figure, gid):
    """Those of the only bar of this name."""
    (found,) = with_gid(figure, gid)
    return list(found.get_xdata())


def test_a_sentence_has_how_many_are_decided_and_the_means_of_the_model_alone_or_of_the_clearest():
    clearest = claim("lstm-n158", "momentum_lstm-n158", "holds", 14.0, found="5.1 ± 0.1 against 6 ± 0.2")
    first = claim("momentum_lstm-n158", "lstm-n158", "undecided", 0.1, found="3 ± 1 against 2 ± 1")
    artifact, alone = artifact_at("paper", MOMENTUM), {"momentum_lstm": "lstm"}
    counts = "Of {} comparisons {} decided for it, {} against it."
    assert answer(artifact.comparisons([first]), {}) == counts.format(1, 0, 0)
    said = f"{counts.format(2, 0, 1)} MomentumLSTM vs LSTM{{}}, N = 158: {{}} (TIMIT, next frame: test loss), {{}}."
    rows = artifact.comparisons([first, clearest])
    assert answer(rows, alone) == said.format("", "3 against 2", "inconclusive")
    assert answer(rows, {}) == said.format("*", "6 against 5.1", "reproduced")


def test_rows_are_the_comparisons_of_the_question_by_task_measure_and_effect():
    artifact, figure = forest([*CLAIMS, *ELSEWHERE])
    assert drawn(figure) == [
        "MNIST: test accuracy",
        "MomentumLSTM vs LSTM, N = 256",
        "PMNIST: test accuracy",
        "MomentumLSTM vs LSTM, N = 128",
        "TIMIT, next frame: iterations to a train loss",
        "MomentumLSTM vs LSTM*, N = 158",
        "TIMIT, next frame: test loss",
        "SRLSTM vs LSTM, N = 158",
        "MomentumLSTM vs LSTM, N = 84",
        "MomentumLSTM vs LSTM, N = 158",
    ]
    labels = {one.get_text().strip(): one for one in with_gid(figure, "label")}
    assert {text.get_color() for text in labels.values()} == {"black", "0.55"}
    assert labels["MomentumLSTM vs LSTM, N = 128"].get_color() == "0.55"
    assert len(artifact.comparisons([*CLAIMS, *ELSEWHERE])) == 7


def test_verdicts_are_told_apart_by_colour_and_shape_also_in_grey():
    _, figure = forest(CLAIMS)
    marks = {name: mark(figure, f"{name} ")[1:] for name in ("fails", "undecided", "no learning shown")}
    marks["holds"] = with_gid(figure, "holds mnist")[0].get_color(), with_gid(figure, "holds mnist")[0].get_marker()
    assert len({to_rgb(colour) for colour, _ in marks.values()}) == len({shape for _, shape in marks.values()}) == 4
    said = ["claim reproduced", "claim contradicted", "undecided", "no learning shown", "as printed"]
    assert legend(figure)[:-2] == said
    handles = legends_of(figure)[0].legend_handles
    assert [(one.get_color(), one.get_marker()) for one in handles[:-3]] == [
        marks[name] for name in ("holds", "fails", "undecided", "no learning shown")
    ]


def test_names_are_on_the_page_left_of_the_plot_and_intervals_and_marks_within_it():
    _, figure = forest(CLAIMS)
    figure.draw_without_rendering()
    _, plot = (ax.get_window_extent() for ax in figure.axes)
    for label in with_gid(figure, "label"):
        box = label.get_window_extent()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= plot.x0 and box.height * 72 / figure.dpi > 8
    left, right = figure.axes[1].get_xlim()
    assert all(left < x < right for line in with_gid(figure, "adjusted") for x in line.get_xdata())
    assert left < 21.5 < right


def test_a_mark_stands_where_the_questions_model_is_better_or_worse_and_the_papers_own_is_hollow():
    _, figure = forest(CLAIMS)
    x, _, _ = mark(figure, "holds timit:train_loss")
    assert x == -2 and ends(figure, "interval timit:train_loss") == [-2.5, -1.5]
    assert ends(figure, "adjusted timit:train_loss") == pytest.approx([-3, -1])
    assert mark(figure, "fails timit:test_loss")[0] == -12
    (hollow,) = with_gid(figure, "published")
    assert hollow.get_xdata()[0] == 21.5 and hollow.get_markerfacecolor() == "white"
    assert hollow.get_gid() == f"published {CLAIMS[0]['id']}"


def test_a_model_whose_configured_momentum_is_zero_is_not_drawn():
    artifact, figure = forest(CLAIMS)
    assert sum("1150" in row["subject"] for row in CLAIMS) == 1
    assert not any("1150" in name for name in [*drawn(figure), *(one.names for one in artifact.comparisons(CLAIMS))])


def test_at_most_twenty_four_rows_are_drawn_of_the_main_tables_first_then_the_largest():
    sizes = {"timit": (84, 120, 158), "timit_recall": (84, 120, 158), "mnist": (128, 256), "pmnist": (128, 256)}
    cells = [(task, size) for task, own in sizes.items() for size in own]
    pairs = [("rmsprop_lstm", other) for other in ("lstm", "momentum_lstm", "sr_lstm", "adam_lstm")]
    claims = [
        claim(
            f"{one}-n{size}",
            f"{other}-n{size}",
            "holds",
            sign * (1 + n / 10),
            task,
            artifact=TABLE if n == 0 else FIGURE,
        )
        for n, (task, size) in enumerate(cells)
        for sign, (one, other) in zip((1, -1, 1, 1), pairs, strict=True)
        if (task, size) not in (("timit", 84), ("timit_recall", 84))
    ] + [
        claim("adam_lstm-n120", "lstm-n120", "holds", 0.01),
        claim("adam_lstm-n158", "lstm-n158", "holds", 0.001, artifact=FIGURE),
    ]
    artifact, figure = forest(claims * 2, ADAM)
    rows = [one.row for one in artifact.drawn(claims * 2)]
    assert len(rows) == 24 and len(artifact.comparisons(claims * 2)) == 52
    kept = {abs(float(row["effect"])) for row in rows}
    assert 0.01 in kept and 0.001 not in kept and min(kept - {0.01}) > 1.3
    assert "24 of 52 comparisons that count" in words(figure)


def test_rows_whose_baseline_is_not_beaten_are_drawn_where_there_is_room():
    idle = [claim("momentum_lstm-n128", "lstm-n128", "undecided", 9.0, "mnist", **IDLE_SIDES)] * 20
    artifact, figure = forest([*idle, *CLAIMS[:3] * 2])
    assert len(artifact.drawn([*idle, *CLAIMS[:3] * 2])) == 24
    assert len(with_gid(figure, "no learning shown")) == 18
    assert "no learning shown" not in legend(forest([*idle, *CLAIMS[:3] * 8])[1])


ATTENTION = [
    claim(
        "ace_latent_ode-n20", "latent_ode-n20", "undecided", 0.2, "physionet", "test_auc", published_difference=0.024
    ),
    claim("ode_rnn-n20", "ace_latent_ode-n20", "undecided", -2.0, "physionet", "test_auc", published_difference=-0.02),
    claim("ace_latent_ode-n20", "ode_rnn-n20", "holds", 3.0, "physionet_released", "test_auc"),
]


def test_comparisons_on_one_metric_are_drawn_in_its_unit_on_a_linear_axis():
    _, figure = forest(ATTENTION, "acenode_attention")
    assert drawn(figure) == [
        "PhysioNet mortality: AUC of ACE-Latent-ODE (ODE Enc.), N = 20",
        "vs ODE-RNN*",
        "vs Latent-ODE (ODE Enc.)",
        "PhysioNet mortality (as released): AUC",
        "ACE-Latent-ODE (ODE Enc.) vs ODE-RNN, N = 20",
    ]
    ax, (first, reverse, _) = figure.axes[1], (row["id"] for row in ATTENTION)
    assert ax.get_xscale() == "linear" and ax.get_xlabel() == "difference in AUC"
    assert mark(figure, f"undecided {first}")[0] == pytest.approx(0.02)
    assert ends(figure, f"interval {first}") == pytest.approx([-0.03, 0.07])
    assert ends(figure, f"adjusted {first}") == pytest.approx([-0.08, 0.12])
    assert mark(figure, f"undecided {reverse}")[0] == pytest.approx(0.2)  # the question's model is the reference
    assert ends(figure, f"interval {reverse}") == pytest.approx([0.15, 0.25])
    assert [hollow.get_xdata()[0] for hollow in with_gid(figure, "published")] == [0.02, 0.024]


def test_of_a_metric_that_is_better_lower_the_sign_is_reversed():
    _, figure = forest([CLAIMS[1], CLAIMS[2]])
    assert mark(figure, "fails")[0] == pytest.approx(-1.2) and mark(figure, "holds")[0] == pytest.approx(0.3)
    assert figure.axes[1].get_xlabel() == "difference in test loss (sign reversed)"


@pytest.mark.parametrize("claims", [CLAIMS, CLAIMS[3:4]])
def test_several_metrics_and_iterations_are_drawn_in_deviations(claims):
    ax = forest(claims)[1].axes[1]
    assert ax.get_xscale() == "symlog" and ax.get_xlabel().startswith("standardised difference g")


def test_what_a_figure_says_is_as_approved():
    _, figure = forest(CLAIMS)
    approved(f"{MOMENTUM}_paper.txt", face(figure))


@pytest.mark.parametrize("claims", [[], [row | {"verdict": "not run", "counted": "false"} for row in CLAIMS]])
def test_where_nothing_is_judged_there_is_no_picture_and_a_sentence_says_so(claims, tmp_path):
    artifact, figure = forest(claims, scale="demo")
    for form in ("png", "pdf"):
        (tmp_path / f"x.{form}").write_text("older")
    save(figure, tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x.md"] and not figure.axes
    assert (tmp_path / "x.md").read_text().splitlines()[:3] == [f"# {figure.heading}", "", NOTHING]
    assert [file.rpartition(".")[2] for file in artifact.files()] == ["md"]
    _, figure = forest(CLAIMS[-1:])  # without an effect
    assert figure.instead == NOTHING
    _, figure = forest(CLAIMS)
    assert not figure.instead


def test_models_and_tables_are_those_that_are_configured(project):
    for key, value in (("models", ["lstn"]), ("against", ["lstn"]), ("tables", ["momentumrnn_table0"])):
        with refused(file="config/artifacts.yaml"):
            project.set("config/artifacts.yaml", f"{MOMENTUM}.{key}", value)
            load_artifacts(project.load())


# All together


def with_p(*ps, verdicts=()):
    verdicts = [*verdicts, *["undecided"] * (len(ps) - len(verdicts))]
    return [claim("a", "b", verdict, p=p) for p, verdict in zip(ps, verdicts, strict=True)]


def test_decided_tests_are_counted_over_all_by_holm_and_their_false_discovery_rate_is_that_of_scipy():
    ps = [0.02, 0.001, 0.3, 0.011, 0.04]
    claims = with_p(*ps, verdicts=["holds", "fails", "undecided", "holds"])
    uncounted = claim("a", "b", p=1e-9, counted="false"), claim("a", "b", p="")
    numbers = re.findall(r"\d[\d.]*(?= )", in_a_sentence([*claims, *uncounted]))
    assert numbers == ["3", "5", "2", f"{100 * false_discovery_control(ps)[0]:.2g}"]


def answers(claims, scale="paper", **changes):
    configuration = artifact_at(scale, MOMENTUM, **changes).configuration
    artifacts = load_artifacts(configuration)
    files = {place_of(artifact): artifact for artifact in artifacts.values()}
    places = [*files, *([f"figures/{MOMENTUM}.png"] if claims else [])]
    return page(configuration, claims, files, dict.fromkeys(places, b"# Title\n\n| its rows |\n\n- Notes"))


def test_the_page_of_findings_is_as_approved():
    approved("findings_paper.md", answers(CLAIMS))


def test_the_page_lists_every_claim_that_was_judged_at_the_papers_settings_once_under_its_verdict():
    """All claims are in its counts; its list is without what was not run, or otherwise and is undecided."""
    unrun = [claim(f"adam_lstm-n{size}", "lstm-n158", "not run", None, counted="false") for size in (84, 120)]
    asked = claim("adam_lstm-n158", "lstm-n158", "fails", -1.0, classical_beaten="false", **INSTEAD)
    claims = [*CLAIMS, *ELSEWHERE, *unrun, asked]
    start, _, end = answers(claims).partition("tests that were made")
    total, *counts = map(
        int, re.findall(r"(\d+) (?:claims, at|reproduced|contradicted|inconclusive|not yet run)", start)
    )
    assert total == sum(counts) == len(claims) and counts[-1] == 4
    assert "paper's setup: 0 hold, 1 fail, 1 are undecided; in 0 of these no learning is shown." in start
    assert re.search(r" 1 of the (\d+) decided .* bar, 1 of them would be undecided\.", start)[1] == str(
        sum(row["verdict"] in ("holds", "fails") for row in claims)
    )
    _, *under = re.split(r"^### (\w+)$", end, flags=re.MULTILINE)
    named = zip(under[::2], [re.findall(r"^- .*`(.+)`$", own, re.MULTILINE) for own in under[1::2]], strict=True)
    listed = [(verdict.lower(), name) for verdict, names in named for name in names]
    there = [row for row in claims if not row["deviations"] and row["verdict"] != "not run"] + [asked]
    assert sorted(listed) == sorted((word(row), row["id"]) for row in there)
    assert "reproduced" not in answers([*CLAIMS[:1], *unrun]).partition("\n## ")[0]


def test_the_page_says_where_nothing_was_judged_and_shows_no_empty_picture():
    text = answers([], scale="demo")
    assert text.count("No comparison on this question is judged at the demo scale.") == 3
    assert "No claim is tested at this scale." in text
    assert re.findall(r"\(figures/.*\)", text) == []
