# What a scale will cost, before anything is launched.
