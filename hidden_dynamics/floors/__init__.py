"""Classical baselines ("floors"): models that need no network, fitted on the training part of a task's data.

What regularises them is chosen by the validation part; where nothing is held out, by a part of the training part that
is. The test part is scored, and nothing else. Naive baselines, which fit nothing to inputs, are hidden_dynamics.tasks.naive_scores.
"""

from hidden_dynamics.system.digest import code_digest

COLUMNS = (
    *("scale", "task", "seed", "name", "metric", "score", "chosen", "fitted_on", "seconds"),
    *("data_digest", "code", "versions"),
)
# By the class of a task, the functions that fit them: (task, seed) to a hidden_dynamics.floors.fitted.Fitted, or to None where the
# task's settings ask for another one. They are names, because the workflow, which reads this, imports no numerical library.
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


def code_of(task_class: str) -> str:
    """Digest of the code of a task's classical baselines, and of the task's."""
    return code_digest("hidden_dynamics.floors.fitted.fit", *FLOORS.get(task_class, ()), task_class)
