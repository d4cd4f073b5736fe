"""Jobs as processes of this machine: `backend.LocalBackend`. Imported by nobody else than the registry of back-ends and tests."""
