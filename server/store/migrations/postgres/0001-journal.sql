-- Facts, in the order of keeping. Nothing here is ever changed, and only `quintain archive` deletes any of it.
CREATE TABLE journal (
    number     bigint PRIMARY KEY,
    tournament text NOT NULL,
    at         double precision NOT NULL,  -- seconds since 1970
    kind       text NOT NULL,
    key        text,                       -- what there is one of in a tournament
    body       text NOT NULL               -- the fact as JSON
);
CREATE UNIQUE INDEX journal_once ON journal (tournament, key) WHERE key IS NOT NULL;

-- Moves of matches in play.
CREATE TABLE jotted (
    match text NOT NULL,
    ply   integer NOT NULL,                -- of the first of some moves
    moves text NOT NULL,                   -- as JSON
    times text NOT NULL,                   -- seconds spent on each, as JSON
    PRIMARY KEY (match, ply)
);

-- For people with psql: the host reads none of these.
CREATE VIEW tournaments AS
    SELECT tournament, to_timestamp(at) AS opened, body::json->>'game' AS game,
           body::json->>'format' AS format, (body::json->>'entrants')::integer AS entrants,
           (SELECT turned.body::json->>'state' FROM journal AS turned
            WHERE turned.tournament = journal.tournament AND turned.kind = 'turned'
            ORDER BY turned.number DESC LIMIT 1) AS state
    FROM journal WHERE kind = 'opened';

CREATE VIEW entrants AS
    SELECT tournament, body::json->>'name' AS name, (body::json->>'rating')::double precision AS rating,
           to_timestamp(at) AS entered
    FROM journal WHERE kind = 'entered';

CREATE VIEW pairings AS
    SELECT tournament, (pairing->>'number')::integer AS number, (pairing->>'round')::integer AS round,
           pairing->>'first' AS first, pairing->>'second' AS second
    FROM journal, json_array_elements(body::json->'pairings') AS pairing WHERE kind = 'drew';

CREATE VIEW matches AS
    SELECT tournament, body::json->>'match' AS match, to_timestamp(at) AS ended,
           body::json->'players'->>0 AS first, body::json->'players'->>1 AS second,
           (body::json->>'winner')::integer AS winner, body::json->>'ending' AS ending,
           body::json->>'why' AS why, (body::json->'score'->>0)::double precision AS score,
           json_array_length(body::json->'moves') AS plies, body::json->'moves' AS moves,
           EXISTS (SELECT 1 FROM journal AS voided
                   WHERE voided.tournament = journal.tournament AND voided.kind = 'voided'
                     AND voided.body::json->>'match' = journal.body::json->>'match') AS voided
    FROM journal WHERE kind = 'concluded';

CREATE VIEW orders AS
    SELECT number, tournament, to_timestamp(at) AS at, body::json->>'by' AS by,
           body::json->>'action' AS action, body::json->>'detail' AS detail
    FROM journal WHERE kind = 'ordered';
