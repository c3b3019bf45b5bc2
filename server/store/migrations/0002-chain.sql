-- Each entry has the head of its tournament's chain of hashes, which ends with it; for entries that are
-- there already the host computes it.
ALTER TABLE journal ADD COLUMN salt TEXT NOT NULL DEFAULT '';   -- in hexadecimal
ALTER TABLE journal ADD COLUMN head BLOB NOT NULL DEFAULT x'';
CREATE INDEX journal_of_one ON journal (tournament);
