"""How the wheels with machine code are made; they start without compiling the rules. Not part of any package."""
