"""Generation: draws, selects and builds the vectors of a suite."""
