"""The engine that reads logs with formats: bytes to lines, sessions, facts and observations."""
