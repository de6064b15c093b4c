# Verdicts on the papers' claims, and the page of all of them.
