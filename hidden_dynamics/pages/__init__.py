"""The one page of a scale: findings, tables, figures, the runs behind them.

The page loads nothing from elsewhere, and says so to the browser, which then refuses to.
"""
