# One page that shows everything of a scale.
