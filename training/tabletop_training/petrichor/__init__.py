"""What is Petrichor's alone: the study of how hard its solo variants are, its reference table's plan, its demo."""
