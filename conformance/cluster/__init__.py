"""Independent tasks on the workers of a Dask cluster; an optional extra. See docs/cluster.md."""
