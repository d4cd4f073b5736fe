"""Training scripts that come with Outrider. Each runs by itself: of the project it imports only this folder and the reporter."""
