"""How rules and loops become machine code."""
