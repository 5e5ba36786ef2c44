"""Play on the machines of a cluster, with calls of `concurrent.futures`: Dask, MPI, any pool."""
