"""Grading: judges outcomes, groups failures into findings, applies known failures."""
