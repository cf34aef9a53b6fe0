"""YAML files: their reader, with positions and problems, and the records of known bugs."""
