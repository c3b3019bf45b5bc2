-- Whether a host has not been ready yet: it takes nothing over, as if it drained, but does not end.
-- A host of an older version does not say so.
ALTER TABLE hosts ADD COLUMN starting boolean NOT NULL DEFAULT false;
