"""Challenges: a suite that nobody could have seen, bound to a secret and to a binary."""
