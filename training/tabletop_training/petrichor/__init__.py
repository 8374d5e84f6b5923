"""Parts for Petrichor only: the study of how hard its solo variants are, the plan of its reference table, its demo."""
