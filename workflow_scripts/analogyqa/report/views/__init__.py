"""Tables and figures that look into trained systems."""
