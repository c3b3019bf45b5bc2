-- Several hosts may share the database. Each tournament is held by one of them at a time, under a lease, and
-- whatever a host writes of a tournament carries the epoch of that lease. A stale epoch is refused here.
CREATE TABLE hosts (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    address     text NOT NULL,                -- where the other hosts reach it
    fingerprint text NOT NULL,                -- of its certificate: SHA-256, in hexadecimal
    certificate text NOT NULL,                -- which it has made itself, in PEM
    version     text NOT NULL,                -- of Quintain
    heartbeat   timestamptz NOT NULL,         -- by this database's clock, as all times here
    expiry      timestamptz NOT NULL,         -- of all its leases, unless it renews them before
    draining    boolean NOT NULL DEFAULT false,
    changes     bigint NOT NULL DEFAULT 0     -- how often the set of its leases has changed
);
CREATE TABLE leases (
    tournament text PRIMARY KEY,              -- its name
    host       bigint,                        -- NULL: nobody holds it
    epoch      bigint NOT NULL                -- greater with every host that has held any tournament
);
CREATE INDEX leases_of_one ON leases (host);
CREATE SEQUENCE epochs;

ALTER TABLE journal ADD COLUMN epoch bigint NOT NULL DEFAULT 0;   -- 0: by a host that shares with nobody
ALTER TABLE journal ADD COLUMN host bigint;                       -- that wrote it, where hosts share …
ALTER TABLE journal ADD COLUMN ticket bigint;                     -- … under this number of its own
CREATE UNIQUE INDEX journal_tickets ON journal (host, ticket) WHERE host IS NOT NULL;
ALTER TABLE jotted ADD COLUMN epoch bigint NOT NULL DEFAULT 0;

-- Refuse what was written under another epoch than that of the lease. The leases stay locked until the
-- transaction ends, so that nobody takes one between this look and the commit.
CREATE FUNCTION quintain_fence(names text[], given bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE stale text;
BEGIN
    PERFORM FROM leases WHERE tournament = ANY (names) ORDER BY tournament FOR SHARE;
    SELECT name INTO stale FROM unnest(names, given) AS written (name, epoch)
        LEFT JOIN leases ON leases.tournament = name
        WHERE name <> '' AND coalesce(leases.epoch, 0) <> written.epoch LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'another host holds %', stale USING ERRCODE = 'QT001', DETAIL = stale;
    END IF;
END $$;

CREATE FUNCTION quintain_fence_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM quintain_fence(array_agg(name), array_agg(epoch))
        FROM (SELECT DISTINCT split_part(tournament, '~', 1) AS name, epoch FROM written) AS each;
    RETURN NULL;
END $$;

CREATE FUNCTION quintain_fence_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM quintain_fence(array_agg(name), array_agg(epoch))
        FROM (SELECT DISTINCT regexp_replace(match, '-[^-]*$', '') AS name, epoch FROM written) AS each;
    RETURN NULL;
END $$;

CREATE TRIGGER fenced AFTER INSERT ON journal REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION quintain_fence_facts();
CREATE TRIGGER fenced AFTER INSERT ON jotted REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION quintain_fence_moves();
CREATE TRIGGER fenced_again AFTER UPDATE ON jotted REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION quintain_fence_moves();
