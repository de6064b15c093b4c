"""Multi-time attention (Shukla and Marlin, ICLR 2021): attention over times alone, to and from reference points."""

from hidden_dynamics.models.mtan.mtand_full import MTAN

__all__ = ["MTAN"]
