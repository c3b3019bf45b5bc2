"""Several hosts on one PostgreSQL database: who holds which tournament, and the links between them.

    leases, stamps, messages   values and states, without I/O
    registry, keeping          hosts and leases in the database, and renewing them
    looking                    what a program that is not a host finds there
    health                     what is wrong with them, in words
    ledger, abroad             what this host may keep, and what others hold
    following                  what others have kept
    identity, link, links      encrypted connections between hosts …
    channel, asking            … and the bots and requests that they carry
    watching                   matches that others hold and somebody looks at here
    requests                   which host answers a request
    peering                    all of it together

May import: `store`, `host`, `net`, `http`, `export.json_views`, `protocols.handed`,
`protocols.dialect`, `pages.desk`, `workers.directory`, `workers.requests` and `exits`.
"""
