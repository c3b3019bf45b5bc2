-- Facts, in the order of keeping. Nothing here is ever changed, and only `quintain archive` deletes any of it.
CREATE TABLE journal (
    number     INTEGER PRIMARY KEY,
    tournament TEXT NOT NULL,
    at         REAL NOT NULL,        -- seconds since 1970
    kind       TEXT NOT NULL,
    key        TEXT,                 -- what there is one of in a tournament
    body       TEXT NOT NULL         -- the fact as JSON
);
CREATE UNIQUE INDEX journal_once ON journal (tournament, key) WHERE key IS NOT NULL;

-- Moves of matches in play.
CREATE TABLE jotted (
    match TEXT NOT NULL,
    ply   INTEGER NOT NULL,          -- of the first of some moves
    moves TEXT NOT NULL,             -- as JSON
    times TEXT NOT NULL,             -- seconds spent on each, as JSON
    PRIMARY KEY (match, ply)
) WITHOUT ROWID;

-- For people with a shell: the host reads none of these.
CREATE VIEW tournaments AS
    SELECT opened.tournament, datetime(opened.at, 'unixepoch') AS opened,
           json_extract(opened.body, '$.game') AS game, json_extract(opened.body, '$.format') AS format,
           json_extract(opened.body, '$.entrants') AS entrants, coalesce(latest.state, 'registering') AS state
    FROM journal AS opened
    LEFT JOIN (SELECT tournament, json_extract(body, '$.state') AS state, max(number)
               FROM journal WHERE kind = 'turned' GROUP BY tournament) AS latest USING (tournament)
    WHERE opened.kind = 'opened';

CREATE VIEW entrants AS
    SELECT tournament, json_extract(body, '$.name') AS name, json_extract(body, '$.rating') AS rating,
           datetime(at, 'unixepoch') AS entered
    FROM journal WHERE kind = 'entered';

CREATE VIEW pairings AS
    SELECT tournament, json_extract(pairing.value, '$.number') AS number,
           json_extract(pairing.value, '$.round') AS round,
           json_extract(pairing.value, '$.first') AS first, json_extract(pairing.value, '$.second') AS second
    FROM journal, json_each(journal.body, '$.pairings') AS pairing WHERE kind = 'drew';

CREATE VIEW matches AS
    SELECT tournament, json_extract(body, '$.match') AS match, datetime(at, 'unixepoch') AS ended,
           json_extract(body, '$.players[0]') AS first, json_extract(body, '$.players[1]') AS second,
           json_extract(body, '$.winner') AS winner, json_extract(body, '$.ending') AS ending,
           json_extract(body, '$.why') AS why, json_extract(body, '$.score[0]') AS score,
           json_array_length(body, '$.moves') AS plies, json_extract(body, '$.moves') AS moves,
           key IN (SELECT 'concluded ' || json_extract(body, '$.match')
                   FROM journal WHERE kind = 'voided') AS voided
    FROM journal WHERE kind = 'concluded';

CREATE VIEW orders AS
    SELECT number, tournament, datetime(at, 'unixepoch') AS at, json_extract(body, '$.by') AS by,
           json_extract(body, '$.action') AS action, json_extract(body, '$.detail') AS detail
    FROM journal WHERE kind = 'ordered';
