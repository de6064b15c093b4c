"""Recurrent and continuous-time networks, and what a reproduction of two papers on them needs."""
