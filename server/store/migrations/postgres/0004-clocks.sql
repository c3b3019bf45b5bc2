-- How far a host's clock is ahead of this database's, in seconds, at its last heartbeat.
ALTER TABLE hosts ADD COLUMN ahead double precision NOT NULL DEFAULT 0;
