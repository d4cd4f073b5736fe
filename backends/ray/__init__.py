"""Jobs as processes on the nodes of a Ray cluster: `backend.RayBackend`."""
