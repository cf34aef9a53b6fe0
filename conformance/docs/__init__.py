"""Pages about operators: what a specification says, with pictures, vectors and known faults."""
