"""What a failure comes from: the faults whose outputs it has, or what the failing cases share."""
