"""Tables as files: that every form can be read, and what scripts/render.py writes."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pandas
import pytest
from drawn import artifact_at
from hypothesis import given
from hypothesis import strategies as st
from made import sources_of, summary_of, write_inputs

from hidden_dynamics.artifacts.latex import latex_text
from hidden_dynamics.artifacts.tables import RowKey, Table, html_table, markdown, number, signed, write_table
from hidden_dynamics.claims.verdict import COLUMNS
from hidden_dynamics.results.rows import write_rows
from hidden_dynamics.system.files import ROOT

STRANGE = "we<i>rd_&|%\\"


@pytest.fixture
def table() -> Table:
    """Two rows, in groups of columns, with all that a form might trip over."""
    rows = [
        {
            "Model": "LSTM",
            ("MNIST | 2", "ours"): "91.50 ± 2.12 (n = 2)",
            ("MNIST | 2", "rank"): "1",
            ("[P]", "ours"): "–",
        },
        {"Model": STRANGE, ("MNIST | 2", "ours"): "≈3", ("[P]", "ours"): "4*"},
    ]
    records = [{"model": "lstm", "mean": 91.5, "n": 2}, {"model": STRANGE, "mean": 1 / 3, "n": None}]
    keys = [RowKey("lstm", 128), RowKey("mine", None)]
    ours = {("MNIST | 2", "ours"): "mnist", ("[P]", "ours"): "pmnist"}
    return Table.of("A title <b>", ["A note & more.", "* starred"], list(zip(keys, rows, strict=True)), records, ours)


class Cells(HTMLParser):
    """The cells of a table with the addresses they lead to, and whether every element that needs it is closed."""

    def __init__(self, text: str):
        super().__init__()
        self.open, self.rows, self.links, self.outside = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.outside += [value for name, value in attributes if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "a":
            self.links[len(self.rows) - 1, len(self.rows[-1]) - 1] = dict(attributes)["href"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data.strip("\n")


def test_every_form_is_written_and_nothing_else(table, tmp_path):
    paths = [tmp_path / "tables" / f"momentumrnn_table1.{form}" for form in ("csv", "md", "tex", "html")]
    write_table(table, paths)
    assert sorted(paths) == sorted((tmp_path / "tables").iterdir())


def test_csv_keeps_every_number(table, tmp_path):
    write_table(table, [tmp_path / "t.csv"])
    assert (tmp_path / "t.csv").read_text() == f"model,mean,n\nlstm,91.5,2\n{STRANGE},{1 / 3!r},\n"


def test_html_is_one_closed_page_that_loads_nothing(table, tmp_path):
    write_table(table, [tmp_path / "t.html"])
    text = (tmp_path / "t.html").read_text(encoding="utf-8")
    page = Cells(text)
    assert page.open == [] and page.outside == []
    assert page.rows == [["", "MNIST | 2", "[P]"], ["Model", "ours", "rank", "ours"], *table.frame.to_numpy().tolist()]
    assert "viewport" in text and "A title &lt;b&gt;" in text


def test_rows_and_our_numbers_are_links_where_there_is_an_address(table):
    page = Cells(html_table(table, lambda key, task: f"#{key.model}-{task or 'all'}"))
    assert page.links == {
        (2, 0): "#lstm-all",
        (2, 1): "#lstm-mnist",
        (3, 0): "#mine-all",
        (3, 1): "#mine-mnist",
        (3, 3): "#mine-pmnist",
    }
    assert Cells(html_table(table, lambda key, task: None)).links == {}


def test_markdown_has_as_many_cells_in_every_row(table):
    for part in markdown(table).split("**")[2::2]:
        lines = [line for line in part.splitlines() if line.startswith("|")]
        assert len(lines) == 4 and len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_numbers_as_text():
    assert [number(1.005, 1), number(None, 2), number(1.5e21, 2)] == ["1.0", "–", "1.50e+21"]
    assert [signed(1.25, 1), signed(-1.0, 2), signed(-0.001, 2), signed(float("nan"), 2)] == [
        "+1.2",
        "−1.00",
        "0.00",
        "–",
    ]


def test_latex_text_by_hand():
    assert latex_text("≈68K ± 5% of a_b & {c} #1 $x") == r"$\approx$68K $\pm$ 5\% of a\_b \& \{c\} \#1 \$x"
    assert latex_text("a\\b~c^d\n\ne") == r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d e"
    assert latex_text("[22] – ✓ ö") == r"{[}22{]} -- {[}U+2713{]} ö"


@given(st.text())
def test_latex_text_leaves_nothing_that_acts(text):
    plain = re.sub(r"\\[a-z]+(\{\})?|\\[&%$#_{}]|\$\\[a-z]+\$|\$-\$", "", latex_text(text))
    assert not re.search(r"[\\&%$#_^]", plain)
    assert plain.count("{") == plain.count("}")


def test_latex_compiles(table, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    artifacts = [artifact_at("demo", f"momentumrnn_table{number}") for number in (2, 3, 6, 7)]
    made = [a.draw(sources_of(a, summary=summary_of(a, measured(a)) if a.summarised else [])) for a in artifacts]
    inputs = []
    for index, each in enumerate([table, *made]):
        write_table(each, [tmp_path / f"t{index}.tex"])
        inputs.append(rf"\input{{t{index}}}")
    document = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *inputs, r"\end{document}"]
    (tmp_path / "document.tex").write_text("\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "document.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


def measured(artifact):
    """Every metric of the table is 0.5 at a run's one evaluation."""

    def about(run):
        metrics = [run.spec["training"]["report"]["metric"], *artifact.metrics()]
        return {"evaluations": [{"iteration": 10, "epoch": 1.0, **dict.fromkeys(metrics, 0.5)}]}

    return about


# The script


def render(root, *arguments):
    command = [sys.executable, str(ROOT / "scripts" / "render.py"), "--root", str(root), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_script_writes_an_artifacts_files_with_its_verdicts(tmp_path):
    artifact = artifact_at("demo", "momentumrnn_table11")
    write_inputs(tmp_path, artifact, summary=summary_of(artifact, measured(artifact)))
    judged = {"kind": "better", "task": "mnist", "metric": "test_accuracy", "verdict": "contradicted"}
    judged |= {"subject": "adam_lstm-n32", "reference": "lstm-n32", "against_table": "false"}
    settings = ["--config", json.dumps({"seeds": [0, 1]})]
    assert "claims/momentumrnn_table11.csv" in render(tmp_path, "--artifact", artifact.name, *settings).stderr
    write_rows(tmp_path / artifact.configuration.paths.verdicts(artifact.name), COLUMNS, [judged])
    done = render(tmp_path, "--artifact", artifact.name, *settings)
    assert done.returncode == 0, done.stderr
    csv = pandas.read_csv(tmp_path / artifact.files()[0])
    assert list(csv[csv["verdict"].notna()]["model"]) == ["adam_lstm"]
    assert all((tmp_path / file).is_file() for file in artifact.files())


@pytest.mark.parametrize(
    ("artifact", "said"),
    [("momentumrnn_table12345", "unknown artifact"), ("momentumrnn_table1", "momentumrnn_table1.csv is missing")],
)
def test_the_script_says_what_is_wrong(tmp_path, artifact, said):
    done = render(tmp_path, "--artifact", artifact)
    assert done.returncode == 1
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
