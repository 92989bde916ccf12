"""Real shops' data as the CSV files of a load: converters, a seeded look-alike with the same dirt, and their tests."""
