"""A table of results: ours over seeds beside the published numbers, and whether the published ordering holds."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas

from hidden_dynamics.configuration import Configuration
from hidden_dynamics.errors import UserError
from hidden_dynamics.rendering.face import readings_note, scale_notes
from hidden_dynamics.rendering.published import load_published, load_tasks, row_of
from hidden_dynamics.rendering.tables import ABSENT, Table, number, signed

UNITS = {"percent": 100.0, "one": 1.0}  # what a reported fraction is multiplied by


def read_summary(path: Any) -> pandas.DataFrame:
    """The summary of an artifact's runs, one row per run; sizes as numbers where they are numbers, empty text as "".

    Raises:
        UserError: the file is missing, is not CSV or lacks columns.
    """
    try:
        summary = pandas.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise UserError(f"there is no summary {path}: make it first, with scripts/summarise.py or Snakemake.") from None
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not a summary of runs: {error}") from None
    missing = [column for column in _COLUMNS if column not in summary]
    if missing:
        raise UserError(f"{path} is not a summary of runs: it lacks the columns {', '.join(missing)}.")
    sizes = [
        tuple(int(text) if text.isdigit() else text or None for text in pair)
        for pair in zip(summary["size"], summary["paper_size"], strict=True)
    ]
    summary = _with_sizes(summary, sizes)
    summary["reported"] = pandas.to_numeric(summary["reported"])
    return summary


def results_table(configuration: Configuration, artifact: str, summary: pandas.DataFrame) -> Table:
    """The table of `artifact`: the paper's rows in its order, then the models of the user's own.

    Args:
        summary: one row per run, as `read_summary` gives it.

    Raises:
        UserError: the summary is empty, or belongs to another artifact, scale or metric.
    """
    entry = configuration.artifacts[artifact]
    published = load_published(entry["published"])
    _check(configuration, artifact, published, summary)
    data = _compare(_collect(configuration, artifact, published, summary), published)
    return Table(
        title=_title(configuration, entry, data),
        notes=_notes(configuration, published, summary, data),
        frame=_readable(configuration, entry, published, data),
        data=data.drop(columns=["literature", "standing"]),
    )


_COLUMNS = (
    *("artifact", "scale", "task", "task_title", "model", "label", "size", "paper_size", "seed"),
    *("dataset", "dataset_title", "stand_in_for", "parameters", "status", "metric", "rule", "reported"),
    *("readings", "device", "precision"),
)


def _with_sizes(frame: pandas.DataFrame, sizes: list[tuple]) -> pandas.DataFrame:
    """`frame` with (size, paper_size) as they are: pandas would turn 128 into 128.0 beside a row that has no size."""
    columns = zip(("size", "paper_size"), zip(*sizes, strict=True), strict=True) if sizes else ()
    return frame.assign(**{name: pandas.Series(values, index=frame.index, dtype=object) for name, values in columns})


def _check(configuration: Configuration, artifact: str, published: Mapping, summary: pandas.DataFrame) -> None:
    if summary.empty:
        raise UserError(f"the summary of {artifact} has no runs.")
    expected = {"artifact": artifact, "scale": configuration.scale_name, "metric": published["metric"]}
    for column, value in expected.items():
        other = sorted(set(summary[column]) - {value, ""})  # a run that diverged before it reported has no metric
        if other:
            raise UserError(f"the summary's {column} is {', '.join(other)}, and {value} was expected.")
    unreported = summary[(summary["status"] == "finished") & summary["reported"].isna()]
    if len(unreported):
        raise UserError(f"the summary has finished runs without a result: {', '.join(unreported.get('directory', []))}")


def _collect(
    configuration: Configuration, artifact: str, published: Mapping, summary: pandas.DataFrame
) -> pandas.DataFrame:
    """One record per shown row and task: ours over seeds, and what is published."""
    entry = configuration.artifacts[artifact]
    listed = [(row["model"], row.get("size")) for row in entry["rows"]]
    cells = list(zip(summary["model"], summary["paper_size"], summary["task"], strict=True))
    found = [(model, paper_size) for model, paper_size, _ in cells]
    paper_tasks = load_tasks(entry["published"])
    records = []
    for model, paper_size in dict.fromkeys([*listed, *found]):
        row = row_of(published, model, paper_size)
        for task in entry["tasks"]:
            runs = summary[[cell == (model, paper_size, task) for cell in cells]]
            records.append(
                {
                    "artifact": artifact,
                    "scale": configuration.scale_name,
                    "task": task,
                    "model": model,
                    "label": _only(runs, "label") or configuration.models.get(model, {}).get("label", model),
                    "extra": (model, paper_size) not in listed,
                    "paper_size": paper_size,
                    **_ours(runs, UNITS[published["unit"]]),
                    **_theirs(row, task, published),
                    **_data(runs, task, paper_tasks),
                }
            )
    return _with_sizes(pandas.DataFrame(records), [(r["size"], r["paper_size"]) for r in records])


def _ours(runs: pandas.DataFrame, unit: float) -> dict[str, Any]:
    finished = runs[runs["status"] == "finished"]
    values = finished["reported"] * unit
    return {
        "size": _only(runs, "size"),
        "parameters": _only(runs, "parameters"),
        "runs": len(runs),
        "n": len(finished),
        "diverged": len(runs) - len(finished),
        "mean": values.mean(),
        "std": values.std(ddof=1),
        "seeds": " ".join(sorted(set(runs["seed"]), key=int)),
        "readings": " | ".join(sorted(set(runs["readings"]))),
        "device": " | ".join(sorted(set(runs["device"]))),
        "precision": " | ".join(sorted(set(runs["precision"]))),
    }


def _theirs(row: Mapping | None, task: str, published: Mapping) -> dict[str, Any]:
    value = (row or {}).get("values", {}).get(task, {})
    literature = (row or {}).get("literature", {}).get(task, [])
    best = (max if published["better"] == "higher" else min)((item["value"] for item in literature), default=math.nan)
    decimals = published["decimals"]
    return {
        "published_parameters": (row or {}).get("parameters"),
        "published_mean": value.get("mean", math.nan),
        "published_std": value.get("std", math.nan),
        "published_literature": "; ".join(f"{item['value']:.{decimals}f} [{item['key']}]" for item in literature),
        "literature": literature,
        "standing": value.get("mean", best),  # the number that is compared
    }


def _data(runs: pandas.DataFrame, task: str, paper_tasks: Mapping) -> dict[str, Any]:
    dataset = _only(runs, "dataset")
    paper_dataset = paper_tasks[task]["dataset"] if task in paper_tasks else dataset
    stand_in_for = _only(runs, "stand_in_for") or (paper_dataset if dataset not in (None, paper_dataset) else None)
    return {"dataset": dataset, "dataset_title": _only(runs, "dataset_title"), "stand_in_for": stand_in_for}


def _only(runs: pandas.DataFrame, column: str) -> Any:
    """The value that all of a cell's runs share; None without runs."""
    values = list(dict.fromkeys(runs[column]))
    if len(values) > 1:
        cell = f"{runs['task'].iloc[0]}, {runs['label'].iloc[0]}"
        raise UserError(
            f"the summary mixes runs that differ in {column} ({', '.join(map(str, values))}) in one cell: {cell}."
        )
    return values[0] if values else None


def _compare(data: pandas.DataFrame, published: Mapping) -> pandas.DataFrame:
    """Add the difference, the gap to the baseline of the same size and the rank among the rows of the same size."""
    comparable = data["stand_in_for"].isna() & _equal(data["size"], data["paper_size"])
    data["difference"] = (data["mean"] - data["standing"]).where(comparable)
    sign = 1 if published["better"] == "higher" else -1
    columns: dict[str, list] = {name: [] for name in _ORDERING}
    for record in data.itertuples():
        peers = data[(data["task"] == record.task) & _equal(data["paper_size"], [record.paper_size] * len(data))]
        baseline = peers[peers["model"] == published["baseline"]]
        is_baseline = baseline.empty or record.model == published["baseline"]
        gap = math.nan if is_baseline else record.mean - baseline["mean"].iloc[0]
        published_gap = math.nan if is_baseline else record.standing - baseline["standing"].iloc[0]
        ranked = peers[~peers["extra"] & peers["mean"].notna() & peers["standing"].notna()]
        in_ranking = record.Index in ranked.index
        columns["gap"].append(gap)
        columns["published_gap"].append(published_gap)
        columns["ordering"].append(_ordering(gap, published_gap))
        columns["rank"].append(_rank(record.mean, ranked["mean"], sign) if in_ranking else None)
        columns["published_rank"].append(_rank(record.standing, ranked["standing"], sign) if in_ranking else None)
        columns["ranked"].append(len(ranked) if in_ranking else None)
    for name in ("rank", "published_rank", "ranked"):
        columns[name] = pandas.array(columns[name], dtype="Int64")
    return data.assign(**columns)


_ORDERING = ("gap", "published_gap", "ordering", "rank", "published_rank", "ranked")
_NOTHING = 1e-9  # a gap smaller than this is rounding


def _ordering(gap: float, published_gap: float) -> str | None:
    """Whether our gap to the baseline has the published sign; None where there is nothing to hold it to."""
    if math.isnan(gap) or math.isnan(published_gap) or abs(published_gap) < _NOTHING:
        return None
    if abs(gap) < _NOTHING:
        return "tied"
    return "holds" if gap * published_gap > 0 else "fails"


def _rank(value: float, values: Iterable[float], sign: int) -> int:
    return 1 + sum(sign * (other - value) > _NOTHING for other in values)


def _equal(left: pandas.Series, right: Iterable) -> pandas.Series:
    """Row by row, with nothing equal to nothing."""
    pairs = zip(left, right, strict=True)
    return pandas.Series([a == b or (pandas.isna(a) and pandas.isna(b)) for a, b in pairs], index=left.index)


def _readable(
    configuration: Configuration, entry: Mapping, published: Mapping, data: pandas.DataFrame
) -> pandas.DataFrame:
    decimals = published["decimals"]
    baseline = configuration.models[published["baseline"]]["label"]
    rows = []
    for _, row in data.groupby(["model", "paper_size"], sort=False, dropna=False):
        cells = {
            ("", "Model"): row["label"].iloc[0],
            ("", "N"): _size(row),
            ("", "Parameters"): _joined(row["parameters"], lambda text: f"{int(text):,}"),
            ("", "Published parameters"): _published_parameters(row),
        }
        for record in row.itertuples():
            group = _heading(configuration, record.task, data[data["task"] == record.task])
            cells |= {
                (group, "ours"): _ours_text(record, decimals),
                (group, "published"): _theirs_text(record, decimals),
                (group, "difference"): signed(record.difference, decimals),
                (group, f"against {baseline}"): _gap_text(record, decimals),
                (group, "rank (published)"): _rank_text(record),
            }
        rows.append(cells)
    frame = pandas.DataFrame(rows)
    return frame.set_axis(pandas.MultiIndex.from_tuples(frame.columns), axis="columns")


def _heading(configuration: Configuration, task: str, records: pandas.DataFrame) -> str:
    """The task; where a stand-in was used, the data really used comes first."""
    title = configuration.tasks[task]["title"]
    used = records.dropna(subset=["stand_in_for"])
    if used.empty:
        return title
    original = configuration.datasets.get(used["stand_in_for"].iloc[0], {}).get("title", used["stand_in_for"].iloc[0])
    return f"{' / '.join(dict.fromkeys(used['dataset_title']))}, standing in for {original} (task {title})"


def _size(row: pandas.DataFrame) -> str:
    paper_size = row["paper_size"].iloc[0]
    text = _joined(row["size"], str)
    return text if pandas.isna(paper_size) or text == str(paper_size) else f"{text} (paper: {paper_size})"


def _published_parameters(row: pandas.DataFrame) -> str:
    text, paper_size = row["published_parameters"].iloc[0], row["paper_size"].iloc[0]
    if text is None or pandas.isna(text):
        return ABSENT
    return text if _joined(row["size"], str) in (str(paper_size), ABSENT) else f"{text} (N = {paper_size})"


def _joined(values: Iterable, text: Any) -> str:
    return " / ".join(dict.fromkeys(text(value) for value in values if not pandas.isna(value))) or ABSENT


def _ours_text(record: Any, decimals: int) -> str:
    diverged = f"diverged {record.diverged} of {record.runs}" if record.diverged else ""
    if not record.n:
        return diverged or ABSENT
    about = "; ".join(part for part in (f"n = {record.n}", diverged) if part)
    return f"{number(record.mean, decimals)} ± {number(record.std, decimals)} ({about})"


def _theirs_text(record: Any, decimals: int) -> str:
    if record.published_literature:
        return record.published_literature
    if pandas.isna(record.published_mean):
        return ABSENT
    return f"{number(record.published_mean, decimals)} ± {number(record.published_std, decimals)}"


def _gap_text(record: Any, decimals: int) -> str:
    if pandas.isna(record.gap):
        return ABSENT
    gap = signed(record.gap, decimals)
    if not isinstance(record.ordering, str):
        return gap
    return f"{record.ordering} {gap} ({signed(record.published_gap, decimals)})"


def _rank_text(record: Any) -> str:
    return ABSENT if pandas.isna(record.rank) else f"{record.rank} ({record.published_rank}) of {record.ranked}"


def _title(configuration: Configuration, entry: Mapping, data: pandas.DataFrame) -> str:
    title = f"{entry['title']} ({entry['source']}): {configuration.scale_name} scale"
    shown = data[data["runs"] > 0]
    if shown["stand_in_for"].notna().all():
        return f"{title}, stand-in data: not comparable with the published numbers"
    if shown["stand_in_for"].notna().any():
        return f"{title}, stand-in data in some columns: those are not comparable with the published numbers"
    return title


_RULES = {"max": "the highest of the run", "min": "the lowest of the run", "last": "the last of the run"}


def _notes(
    configuration: Configuration, published: Mapping, summary: pandas.DataFrame, data: pandas.DataFrame
) -> list[str]:
    baseline = configuration.models[published["baseline"]]["label"]
    reported = [f"{metric}, {_RULES.get(rule, rule)}" for metric, rule in _pairs(summary, "metric", "rule") if metric]
    notes = [
        *scale_notes(configuration),
        f"Data: {'; '.join(f'{task}: {title}' for task, title in _pairs(summary, 'task_title', 'dataset_title'))}.",
        f"Seeds: {', '.join(sorted(set(summary['seed']), key=int))}. "
        f"Device: {'; '.join(sorted(set(summary['device'])))}. "
        f"Precision: {', '.join(sorted(set(summary['precision'])))}.",
        readings_note(map(json.loads, summary["readings"])),
        f"Ours: mean ± sample standard deviation (n − 1) over n seeds of what a run reports ({'; '.join(reported)}).",
    ]
    if data["diverged"].any():
        notes.append("Runs that diverged are counted, and are not in the mean.")
    notes.append(
        f"Against {baseline}: our mean less our {baseline}'s of the same size, in brackets the published gap; “holds” "
        "says that both have the same sign. Rank: among this table's rows of the same size that have both numbers, in "
        "brackets the published rank. Both compare means only: with few seeds, a gap within the standard deviations "
        "says little."
    )
    if not data["stand_in_for"].isna().all():
        notes.append("No difference is shown for stand-in data: a difference between two datasets means nothing.")
    sizes = data.dropna(subset=["size", "paper_size"])
    if any(size != paper_size for size, paper_size in zip(sizes["size"], sizes["paper_size"], strict=True)):
        notes.append(
            "No difference is shown where N is not the paper's. Published parameters are those at the paper's N."
        )
    return [*notes, *_literature(data, published), *published["notes"], *_extras(data)]


def _literature(data: pandas.DataFrame, published: Mapping) -> list[str]:
    keys = {item["key"]: item["reference"] for items in data["literature"] for item in items}
    if not keys:
        return []
    best = "highest" if published["better"] == "higher" else "lowest"
    references = "; ".join(f"[{key}] {reference}" for key, reference in sorted(keys.items()))
    return [
        "Published numbers marked [..] are not the paper's own runs: it quotes them from the literature "
        f"({references}). Where there are several, the {best} is compared."
    ]


def _extras(data: pandas.DataFrame) -> list[str]:
    labels = list(dict.fromkeys(data[data["extra"]]["label"]))
    return [f"Not in the paper's table: {', '.join(labels)}."] if labels else []


def _pairs(summary: pandas.DataFrame, left: str, right: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(summary[left], summary[right], strict=True)))
