"""The rules for verdicts, as sentences for readers of the page; docs/claims.md says more."""

from hidden_dynamics.papers.claims import Definitions, Margin, load_claims

OF_THE_SECOND_VERDICT = (
    "The second verdict is no verdict on a paper’s claim, which stays not run at this scale. It says whether the "
    "claim’s direction holds here: on the data, at the sizes and after the training of this scale, which depart from "
    "the paper’s as said beside it. Holds here: the test speaks for the direction. Fails here: it speaks as clearly "
    "against it. Undecided here: neither. The tests, their families with Holm’s adjustment, what bars a verdict, and "
    "the power are those of the verdicts on the papers’ claims. Claims of a printed value, of one model’s own "
    "gradients and of numbers of parameters have no direction. Seeds needed here: how many of each model would find "
    "the printed difference as often, were it the true one here; of a similarity, would show that there is none, were "
    "there none here."
)


def rules() -> list[str]:
    """A paragraph for each kind of test, with the numbers of published/claims.yaml's definitions."""
    definitions = load_claims().definitions
    level = definitions.level
    return [
        "Not run at this scale: there are no such runs, or they are not of the paper’s data, sizes and training. Such "
        "runs can say nothing of the paper, whatever is claimed.",
        f"Reproduced: the test speaks for the claim, with p < {1 - level:.2g} after Holm’s adjustment over its family, "
        "the tests of one kind on one metric of one table or figure, in one reading. Contradicted: it speaks as "
        "clearly against it. Inconclusive: neither. A comparison that several places of a paper make is judged once.",
        *_of_seeds(definitions),
        *_of_courses(definitions),
        "Ranking: Kendall’s tau between our means and the published ones within each size, exact; a model of which "
        "runs failed ranks below those of which fewer did. Smaller: parameters, counted. All: the verdicts on others.",
        f"Ratio: costs measured in interleaved rounds; all rounds but the lowest and the highest must lie on the "
        f"printed side, which is above 1 + {definitions.costs:g}, below 1 / (1 + {definitions.costs:g}) or between. "
        "Memory on a CPU, measured once, is inconclusive. Times to an accuracy are those of the runs’ clocks, by "
        "Welch’s t of logarithms; a run that misses it enters with its whole time, and forbids a verdict in its "
        "model’s favour.",
        "A run that diverged has no number: it is counted, and forbids a verdict in its model’s favour. With fewer "
        "than two numbers a model, or seeds without spread, a claim is inconclusive.",
        f"Detectable: the smallest true difference or ratio that the test would have found with a chance of "
        f"{definitions.power:.0%}, among all tests of its family, at the spread seen; of a ranking, the smallest tau "
        "with a small p. Seeds: how many of each model would find the printed difference as often; of a value or a "
        "similarity, would show that there is none.",
        f"Intervals have level {level:.0%}, unadjusted. “Quoted” is a number that the paper took from another one.",
    ]


def _of_seeds(definitions: Definitions) -> list[str]:
    margins = ", ".join(
        f"{metric.replace('_', ' ')}: {_share(margin)}" for metric, margin in definitions.margins.items()
    )
    return [
        "Better: Welch’s t over seeds, two-sided, degrees of freedom rounded down; the effect g is Hedges’. Runs of "
        "one seed share initial weights, batches and noise: the interval of the differences seed by seed stands beside "
        "it, and where a seed has data of its own the t of these differences decides, corrected where those data are "
        "random parts of the same data (Nadeau and Bengio 2003), as means are then. Gain: Welch’s t of the difference "
        "of two leads. Not better: ahead by less than the margin.",
        f"Value and similar: whether the difference is within a margin ({margins}), by two one-sided t tests, or "
        "outside of it. The margin of a value is at most half of the published gap that it could hide.",
        "Steadier: the test of Brown and Forsythe, which compares deviations from the median. Overfitting: how far "
        "the test loss ends above its lowest, by Welch’s t; the reference has to overfit, by more than "
        f"{definitions.overfits:.0%}.",
    ]


def _of_courses(definitions: Definitions) -> list[str]:
    return [
        "Faster: iterations until the train loss, smoothed by a triangle over "
        f"{definitions.smoothing:.0%} of the run, first reaches the lowest level that every finished run of both "
        "models reaches; Welch’s t of their logarithms.",
        f"Gradients: the mean norm of ∂L/∂h over the first {definitions.early:.0%} of the steps as a share of that "
        "over the last; the ratio of both models’ shares, by Welch’s t of logarithms over seeds. The reference’s share "
        f"has to be below {definitions.vanished:g}, and the subject’s not. Reaches: that a model’s own share is above "
        f"{definitions.vanished:g}.",
    ]


def _share(margin: Margin) -> str:
    return f"{margin.relative:.0%}" if margin.errors is None else f"{margin.errors:.0%} of the errors"
