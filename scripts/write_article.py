"""Write the findings of the publications as an article: article.md, article.tex, article.pdf and metadata.yaml.

    python scripts/write_article.py results/article

Pandoc and XeLaTeX make LaTeX and PDF of it: on Debian pandoc, latexmk, texlive-xetex, texlive-latex-recommended,
texlive-fonts-recommended, lmodern and fonts-linuxlibertine. Everything is read from docs/evidence.
"""

import _bootstrap  # noqa: F401  isort: skip

import shutil
import subprocess
from pathlib import Path

from hidden_dynamics.errors import UserError, run_main
from hidden_dynamics.publication.article import article, figures, metadata
from hidden_dynamics.system.arguments import parser

MARKDOWN = "markdown+lists_without_preceding_blankline-citations-fancy_lists"  # with lists as GitHub has them
TOOLS = {"pandoc": "pandoc", "latexmk": "latexmk", "xelatex": "texlive-xetex"}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("directory", type=Path, help="where it is written, such as results/article")
    directory: Path = options.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in figures().items():
        (directory / f"{name}.png").write_bytes(content)
    (directory / "metadata.yaml").write_text(metadata(), encoding="utf-8")
    (directory / "article.md").write_text(article(), encoding="utf-8")
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            text = f"{tool} is missing (Debian: {package}): {directory}/article.md is written, LaTeX and PDF are not."
            raise UserError(text, key=tool)
    call("pandoc", "--from", MARKDOWN, "--standalone", "--output", "article.tex", "article.md", within=directory)
    # Without -g latexmk does not try again what failed before the text changed.
    call("latexmk", "-g", "-xelatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex", within=directory)


def call(*command: str, within: Path) -> None:
    """Run a program; a `UserError` where it fails, which says so itself."""
    if subprocess.run(command, cwd=within).returncode:
        raise UserError(f"{command[0]} failed on {within / command[-1]}: see above.", within / command[-1], command[0])


if __name__ == "__main__":
    run_main(main)
