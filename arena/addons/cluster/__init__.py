"""Play on the machines of a cluster: Dask's workers, or the ranks of MPI."""
