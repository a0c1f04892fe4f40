"""The runs of OSMeF, and the first table of its study: as computed there, and corrected."""
