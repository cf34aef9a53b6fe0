"""Implementations of the bank that level must accepts: the document leaves open what they do."""

ALLOWED = {
    "last-maximum-wins",
    "lanes-break-ties",
    "overhang-counts-as-padding",
    "separable-passes-break-ties-by-column",
    "signed-zeros-ordered",
    "subnormals-are-zero",
    "valid-always-floors",
}
"""Core refuses them at level should."""
