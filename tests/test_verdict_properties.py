"""The tool that simulates verdicts: false ones stay within the level, and docs/claims.md shows what it prints."""

import argparse
import re

import pytest
import scipy.stats
import verdict_properties as tool
from conftest import ROOT
from markup import tables

TRIALS = 100  # of a cell
SECTION = (ROOT / "docs/claims.md").read_text(encoding="utf-8").split("\n## Error rates and power\n")[-1]


def most(trials: int) -> float:
    """The share of false verdicts that a test at the level exceeds once in 20,000 times."""
    return scipy.stats.binom.ppf(1 - 1 / 20000, trials, tool.ALPHA) / trials


@pytest.mark.parametrize("kind", tool.KINDS, ids=lambda kind: kind.name)
def test_false_verdicts_stay_within_the_level(kind):
    sizes = [n for n in tool.SEEDS if n >= kind.fewest]
    scenarios = [name for name in tool.SCENARIOS if name not in kind.without]
    cells = [(name, n) for name in scenarios for n in sizes]
    found = {cell: tool.false_verdicts(kind, *cell, TRIALS, seed=1) for cell in cells}
    assert max(found.values()) <= most(TRIALS), found
    for name in scenarios:
        assert sum(found[name, n] for n in sizes) / len(sizes) <= most(TRIALS * len(sizes)), name
    families = [tool.false_verdicts(kind, name, 5, TRIALS // 2, seed=1, claims=tool.CLAIMS) for name in scenarios]
    assert max(families) <= most(TRIALS // 2), families


@pytest.mark.parametrize("scenario", tool.ROUNDS)
def test_intervals_of_ratios_leave_out_the_true_one_seldom(scenario):
    assert tool.false_intervals(scenario, tool.FEWEST_ROUNDS, 400, seed=1) <= most(400)


def test_a_test_of_a_number_without_its_spread_is_known_to_err():
    """Were it not so, the limits that docs/claims.md names would be none."""
    constant = next(kind for kind in tool.LIMITS if kind.test is tool.beyond_constant)
    assert tool.false_verdicts(constant, "no effect", 10, 200, seed=1) > tool.ALPHA


def printed(parts: list[str], trials: int) -> list[list[list[str]]]:
    options = argparse.Namespace(trials=trials, seed=0)
    return tables("\n".join(text + "\n" for part in parts for text in tool.PARTS[part](options)))


def test_the_documentation_has_the_tables_that_the_tool_prints():
    """Rates row by row, of as many trials as their captions say; power and pairing number by number."""
    documented = tables(SECTION)
    rates = printed(["rates", "limits"], 4)
    shown = [[row[:2] for row in one] for one in documented]
    for one in rates:
        labels = 1 if one[0][0] == "rounds" else 2
        rows = [row[:labels] for row in one]
        assert one[0] in [other[0] for other in documented], one[0]
        assert rows in [[row[:labels] for row in other] for other in shown], rows
    for one in printed(["power", "pairing"], 4):
        assert one in documented, one


def test_every_documented_rate_is_within_the_level():
    """But those of what is not used and of too few rounds, and what the simulation's error allows."""
    captioned = re.findall(r"\(([\d,]+) trials\):\n\n((?:\|.*\n)+)", SECTION)
    of_kinds = [
        (int(trials.replace(",", "")), tables(text)[0]) for trials, text in captioned if text.startswith("| kind")
    ]
    assert len(of_kinds) == 2
    for trials, (_, _, *rows) in of_kinds:
        for row in rows:
            assert max(float(cell) for cell in row[2:] if cell != "–") <= 100 * most(trials), row


def test_arguments(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["verdict_properties.py", "--only", "power"])
    tool.main()
    assert "finds with 80 %" in capsys.readouterr().out
