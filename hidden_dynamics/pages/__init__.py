"""One page that shows everything of a scale: claims, tables, figures, their runs, and how long it took.

It loads nothing from elsewhere, and says so to the browser, which then refuses to.
"""

from hidden_dynamics.pages.index import index_page

__all__ = ["index_page"]
