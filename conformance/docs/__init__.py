"""HTML pages about operators: specification, pictures, vectors and known bugs."""
