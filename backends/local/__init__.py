"""Jobs as processes of this machine: `backend.LocalBackend`."""
