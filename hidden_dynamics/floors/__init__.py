"""Classical baselines ("floors"): models that need no network, fitted on the training part of a task's data.

What regularises them is chosen by the validation part; where nothing is held out, within the training part. The test
part is scored, and nothing else. Naive baselines (hidden_dynamics.tasks.naive_scores) fit nothing to inputs.
"""

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.configuration.runs import Run, runs_on, seeds_are_blocks
from hidden_dynamics.system.digest import code_digest

COLUMNS = (
    *("scale", "task", "seed", "name", "metric", "score", "chosen", "fitted_on", "seconds"),
    *("data_digest", "code", "versions"),
)
# By the class of a task, the functions that fit them: (task, seed) to a `Fitted` (hidden_dynamics.floors.fitted), or to
# None where its settings ask for another one. They are names: the workflow reads this, without a numerical library.
FLOORS = {
    f"hidden_dynamics.tasks.{task}": tuple(f"hidden_dynamics.floors.{floor}" for floor in floors)
    for task, floors in {
        "activity.ActivityRecognition": ("activities.logistic_regression", "activities.gradient_boosting"),
        "adding.Adding": ("sequences.of_sums",),
        "copying.Copying": ("sequences.of_letters",),
        "images.ImageClassification": ("images.neighbours_of_crops",),
        "language.LanguageModelling": ("text.trigram",),
        "mortality.Mortality": ("patients.logistic_regression", "patients.gradient_boosting"),
        "pixels.PixelClassification": ("images.logistic_regression", "images.neighbours"),
        "series_regression.SeriesRegression": ("forecasts.interpolated", "forecasts.extrapolated"),
        "speech.SpeechPrediction": ("sequences.of_frames",),
        "sporadic.SporadicForecasting": ("forecasts.of_next_rows",),
    }.items()
}


def runs_of(configuration: Configuration, task: str) -> dict[str, Run]:
    """By configured seed ("" where all have the same data) the run of the task's first model, on whose data they are
    fitted."""
    seeds = configuration.seeds_of(task)
    blocks = any(seeds_are_blocks(configuration, task, model) for model in configuration.tasks[task].models)
    runs = {run.seed: run for run in reversed(runs_on(configuration, task, seeds if blocks else seeds[:1]))}
    return {str(seed) if blocks else "": run for seed, run in sorted(runs.items())}


def code_of(run: Run) -> str:
    """Digest of the code of the classical baselines of a run's task, and of the task's."""
    task_class = run.classes["task_class"]
    return code_digest("hidden_dynamics.floors.fitted.fit", *FLOORS.get(task_class, ()), task_class)


def made_by(configuration: Configuration, task: str) -> list[object]:
    """All that determines the baselines of a task beside its data."""
    runs = runs_of(configuration, task)
    return [[seed, run.seed, run.spec["task_settings"], code_of(run)] for seed, run in runs.items()]
