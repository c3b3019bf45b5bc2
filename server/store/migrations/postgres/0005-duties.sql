-- What one of the hosts does for all of them: backups, and telling each webhook.
CREATE TABLE duties (
    duty text PRIMARY KEY,
    host bigint NOT NULL,  -- that does it, for as long as it lives and does not drain
    told bigint            -- the number of the last entry that a webhook need not be told of any more
);
