"""The runs of OSMeF, and Table 1 of its study: as published, and corrected."""
