"""The rules for verdicts, as sentences for readers of the page; docs/claims.md says more."""

from hidden_dynamics.papers.claims import Margin, load_claims


def rules() -> list[str]:
    """A paragraph for each kind of test, with the numbers of published/claims.yaml's definitions."""
    definitions = load_claims().definitions
    level, costs = definitions.level, definitions.costs
    margins = ", ".join(
        f"{metric.replace('_', ' ')}: {_share(margin)}" for metric, margin in definitions.margins.items()
    )
    return [
        f"Reproduced: the test speaks for the claim, with p < {1 - level:.2g} after Holm’s adjustment over its family, "
        "the claims of one kind that rest on one table or figure. Contradicted: it speaks as clearly against it. "
        "Inconclusive: neither. A verdict is of the runs at hand, and of no others.",
        "Better: Welch’s t over seeds, two-sided, degrees of freedom rounded down; the effect g is Hedges’.",
        "Faster: iterations until the train loss, smoothed by a triangle over "
        f"{definitions.smoothing:.0%} of the run, first reaches the lowest level that every finished run of both "
        "models reaches. Their logarithms are compared: by a studentised bootstrap over seeds where there are five or "
        "more a model, by Welch’s t where there are fewer, because so few cannot be resampled.",
        f"Gradients: the mean norm of ∂L/∂h over the first {definitions.early:.0%} of the steps as a share of that "
        "over the last, iteration by iteration; the ratio of both models’, by a bootstrap over blocks of iterations "
        f"where there is one run of each. Where the reference’s share is {definitions.vanished:g} or more, there is "
        "nothing to alleviate.",
        f"Value and similar: whether the difference is within a margin ({margins}) or outside of it, by two one-sided "
        "t tests each way. A value is judged only on the paper’s own data, sizes and training.",
        "Steadier: the F test of the variances over seeds. Overfitting: how far the test loss ends above its lowest, "
        "by Welch’s t. Ranking: Kendall’s tau between our means and the published ones. Smaller: parameters, counted.",
        "Ratio: costs measured in interleaved rounds; all rounds must lie on the printed side, which is above "
        f"1 + {costs:g}, below 1 / (1 + {costs:g}) or between. Memory on a CPU, "
        "measured once, is inconclusive. Times to an accuracy are those of the runs’ clocks, by "
        "Welch’s t of logarithms; a run that misses it enters with its whole time, and forbids a verdict in its "
        "model’s favour.",
        "A run that diverged has no number: it is counted, and forbids a verdict in its model’s favour. With fewer "
        "than two numbers a model, or seeds without spread, a claim is inconclusive.",
        f"Intervals have level {level:.0%}, unadjusted. “Quoted” is a number that the paper took from another one.",
    ]


def _share(margin: Margin) -> str:
    return f"{margin.relative:.0%}" if margin.errors is None else f"{margin.errors:.0%} of the errors"
