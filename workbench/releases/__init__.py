"""Read the public interface of releases: names, keywords, defaults; hold the legacy table to it."""
