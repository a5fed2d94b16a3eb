"""The tables of a project on a server: SQL of PostgreSQL, and versions.

Each project has a schema of its own, so that no statement can mix up two of them. `our` stands for its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.backends.store.database import RowSelection

MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE our.version (version integer NOT NULL);
    INSERT INTO our.version VALUES (0);
    CREATE TABLE our.catalogues (
        digest text COLLATE "C" NOT NULL PRIMARY KEY,
        tools bytea NOT NULL
    );
    CREATE TABLE our.replies (
        digest text COLLATE "C" NOT NULL PRIMARY KEY,
        model text COLLATE "C" NOT NULL,
        file text COLLATE "C" NOT NULL,
        sample bigint NOT NULL,
        recorded double precision NOT NULL,
        catalogue text COLLATE "C" NOT NULL,
        entry bytea NOT NULL,
        checksum bigint NOT NULL
    );
    CREATE TABLE our.uses (
        model text COLLATE "C" NOT NULL,
        file text COLLATE "C" NOT NULL,
        case_id text COLLATE "C" NOT NULL,
        digest text COLLATE "C" NOT NULL,
        run bigint NOT NULL,
        PRIMARY KEY (model, file, case_id, digest)
    );
    CREATE INDEX uses_digest ON our.uses (digest);
    CREATE TABLE our.processes (
        name text COLLATE "C" NOT NULL PRIMARY KEY,
        until timestamptz NOT NULL
    );
    CREATE TABLE our.claims (
        digest text COLLATE "C" NOT NULL PRIMARY KEY,
        owner text NOT NULL,
        process text COLLATE "C" NOT NULL
    );
    CREATE TABLE our.texts (
        name text COLLATE "C" NOT NULL PRIMARY KEY,
        text text NOT NULL,
        changed timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    """,
)
"""Step n turns the tables of version n into those of version n + 1. A released step never changes."""

SELECTIONS: Mapping[RowSelection, str] = MappingProxyType(
    {
        RowSelection.LOAD: "SELECT * FROM our.replies WHERE digest = ANY(%s)",
        RowSelection.FIND: "SELECT * FROM our.replies WHERE digest = %s AND recorded >= %s",
        RowSelection.NEAREST: """
            SELECT r.* FROM our.uses u JOIN our.replies r USING (digest)
            WHERE u.model = %s AND u.file = %s AND u.case_id = %s
            ORDER BY abs(r.sample::numeric - %s), r.recorded DESC LIMIT 1
        """,
        RowSelection.FILES: """
            SELECT DISTINCT model, file FROM our.uses
            WHERE model = coalesce(%s::text, model) AND file = coalesce(%s::text, file) ORDER BY model, file
        """,
        RowSelection.REPLIES_OF_FILE: """
            SELECT u.case_id, u.digest, r.* FROM our.uses u JOIN our.replies r USING (digest)
            WHERE u.model = %s AND u.file = %s AND (u.case_id, u.digest) > (%s, %s)
            ORDER BY u.case_id, u.digest LIMIT 500
        """,
        RowSelection.CASES: "SELECT DISTINCT file, case_id FROM our.uses",
        RowSelection.LAST_USES: """
            SELECT u.case_id, u.digest FROM our.uses u WHERE u.model = %s AND u.file = %s AND u.run > 0 AND u.run = (
                SELECT max(o.run) FROM our.uses o
                WHERE o.model = u.model AND o.file = u.file AND o.case_id = u.case_id
            )
        """,
        RowSelection.STATS: """
            SELECT model, count(*), count(DISTINCT file), min(recorded), max(recorded) FROM our.replies
            GROUP BY model ORDER BY model
        """,
    }
)

PUT_REPLY = """
    INSERT INTO our.replies AS ours VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (digest) DO UPDATE SET
    model = excluded.model, file = excluded.file, sample = excluded.sample, recorded = excluded.recorded,
    catalogue = excluded.catalogue, entry = excluded.entry, checksum = excluded.checksum
"""
PUT_NEWER_REPLY = f"{PUT_REPLY} WHERE excluded.recorded > ours.recorded"
PUT_CATALOGUE = "INSERT INTO our.catalogues VALUES (%s, %s) ON CONFLICT DO NOTHING"
GET_CATALOGUE = "SELECT tools FROM our.catalogues WHERE digest = %s"
MISSING_CATALOGUES = "SELECT unnest(%s::text[]) EXCEPT SELECT digest FROM our.catalogues"

PUT_USE = """
    INSERT INTO our.uses VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (model, file, case_id, digest) DO UPDATE SET run = excluded.run
"""
PUT_FIRST_USE = "INSERT INTO our.uses VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
MOVE_USES: Sequence[str] = (
    """
    INSERT INTO our.uses
    SELECT model, %(new_file)s, coalesce(%(new_case)s::text, case_id), digest, run FROM our.uses
    WHERE file = %(file)s AND case_id = coalesce(%(case)s::text, case_id)
    ON CONFLICT (model, file, case_id, digest) DO UPDATE SET run = excluded.run
    """,
    """
    DELETE FROM our.uses WHERE file = %(file)s AND case_id = coalesce(%(case)s::text, case_id)
    AND (file, case_id) <> (%(new_file)s, coalesce(%(new_case)s::text, case_id))
    """,
)

LOCK_OUT_WRITERS = "LOCK TABLE our.replies IN SHARE ROW EXCLUSIVE MODE"
FILES_IN_USE = "SELECT DISTINCT file FROM our.uses"
FORGET_FILES = "DELETE FROM our.uses WHERE file = ANY(%s)"
FORGET_CASE = "DELETE FROM our.uses WHERE file = %s AND case_id = %s"
FORGET_EARLIER_RUNS = """
    DELETE FROM our.uses WHERE run < (
        SELECT max(o.run) FROM our.uses o
        WHERE o.model = uses.model AND o.file = uses.file AND o.case_id = uses.case_id
    )
"""
FORGET_UNUSED = """
    DELETE FROM our.uses WHERE run < %(before)s::float8 * 1e6 AND coalesce(
        (SELECT r.recorded FROM our.replies r WHERE r.digest = uses.digest), 0
    ) < %(before)s
"""
FORGET_REPLIES = "DELETE FROM our.replies r WHERE NOT EXISTS (SELECT FROM our.uses u WHERE u.digest = r.digest)"
FORGET_CATALOGUES = """
    DELETE FROM our.catalogues c WHERE NOT EXISTS (SELECT FROM our.replies r WHERE r.catalogue = c.digest)
"""

# The claim of a process that has not said for a while that it is alive may be taken. One that is held is only looked
# at: many are claimed in one transaction, and a lock on each would get in the way of its holder's reply.
CLAIM = """
    INSERT INTO our.claims AS held
    SELECT w.digest, w.owner, w.process FROM (VALUES (%s::text, %s::text, %s::text)) AS w (digest, owner, process)
    WHERE NOT EXISTS (
        SELECT FROM our.claims c JOIN our.processes p ON p.name = c.process
        WHERE c.digest = w.digest AND (c.owner, c.process) <> (w.owner, w.process) AND p.until > clock_timestamp()
    )
    ON CONFLICT (digest) DO UPDATE SET owner = excluded.owner, process = excluded.process
    WHERE (held.owner, held.process) = (excluded.owner, excluded.process) OR NOT EXISTS (
        SELECT FROM our.processes p WHERE p.name = held.process AND p.until > clock_timestamp()
    )
    RETURNING digest
"""
END_CLAIM = "DELETE FROM our.claims WHERE digest = %s AND owner = %s AND process = %s"
END_CLAIMS = "DELETE FROM our.claims WHERE digest = ANY(%s)"
IS_ALIVE = """
    INSERT INTO our.processes VALUES (%s, clock_timestamp() + %s * interval '1 second')
    ON CONFLICT (name) DO UPDATE SET until = excluded.until
"""
END_PROCESS: Sequence[str] = (
    "DELETE FROM our.claims WHERE process = %s",
    "DELETE FROM our.processes WHERE name = %s",
)

MAKE_TEXT = "INSERT INTO our.texts (name, text) VALUES (%s, '') ON CONFLICT DO NOTHING"
LOCK_TEXT = "SELECT text FROM our.texts WHERE name = %s FOR UPDATE"
GET_TEXT = "SELECT text FROM our.texts WHERE name = %s"
PUT_TEXT = "UPDATE our.texts SET text = %s, changed = clock_timestamp() WHERE name = %s"
NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"

# Read as tables: what PostgreSQL remembers of names may be older than the transaction that has just ended elsewhere.
HAS_SCHEMA = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
HAS_TABLES = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'version')"

FORGET_OLD: Sequence[str] = (
    "DELETE FROM our.processes WHERE until < clock_timestamp() - interval '1 day'",
    "DELETE FROM our.claims c WHERE NOT EXISTS (SELECT FROM our.processes p WHERE p.name = c.process)",
    "DELETE FROM our.texts WHERE changed < clock_timestamp() - interval '1 day'",
)
"""Statements that delete the rows of processes and runs that ended long ago."""

SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relnamespace = %s::regnamespace AND relkind = 'r'
"""


def of_schema(statement: str, schema: str) -> str:
    """The statement for the tables of this schema."""
    return statement.replace("our.", f'"{schema}".')
