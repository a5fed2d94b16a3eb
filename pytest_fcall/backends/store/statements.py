"""What is said to the database."""

from __future__ import annotations

# To change a row in its place writes half as much as to replace it.
PUT = """
    INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET
    model = excluded.model, file = excluded.file, sample = excluded.sample, recorded = excluded.recorded,
    catalogue = excluded.catalogue, entry = excluded.entry, checksum = excluded.checksum
"""
PUT_NEWER = f"{PUT} WHERE excluded.recorded > replies.recorded"

USE = """
    INSERT INTO uses VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, file, case_id, digest) DO UPDATE SET run = excluded.run
"""
USE_ONCE = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, 0)"

END_CLAIM = "DELETE FROM claims WHERE digest = ?"

KNOWN = "SELECT digest FROM replies WHERE digest IN (SELECT value FROM json_each(?))"
FIND = "SELECT * FROM replies WHERE digest = ? AND recorded >= ?"
NEAREST = """
    SELECT r.* FROM uses u JOIN replies r USING (digest) WHERE u.model = ? AND u.file = ? AND u.case_id = ?
    ORDER BY abs(r.sample - ?), r.recorded DESC LIMIT 1
"""
FILES = """
    SELECT DISTINCT model, file FROM uses WHERE model = coalesce(?, model) AND file = coalesce(?, file)
    ORDER BY model, file
"""
PORTION = """
    SELECT u.case_id, u.digest, r.* FROM uses u JOIN replies r USING (digest)
    WHERE u.model = ? AND u.file = ? AND (u.case_id, u.digest) > (?, ?) ORDER BY u.case_id, u.digest LIMIT 500
"""

LAST_USED = """
    SELECT u.case_id, u.digest FROM uses u WHERE u.model = ? AND u.file = ? AND u.run > 0 AND u.run = (
        SELECT max(o.run) FROM uses o WHERE o.model = u.model AND o.file = u.file AND o.case_id = u.case_id
    )
"""
FORGET_EARLIER_RUNS = """
    DELETE FROM uses WHERE run < (
        SELECT max(o.run) FROM uses o WHERE o.model = uses.model AND o.file = uses.file AND o.case_id = uses.case_id
    )
"""
FORGET_UNUSED = """
    DELETE FROM uses WHERE run < :before * 1e6 AND coalesce(
        (SELECT r.recorded FROM replies r WHERE r.digest = uses.digest), 0
    ) < :before
"""
FORGET_REPLIES = "DELETE FROM replies WHERE digest NOT IN (SELECT digest FROM uses)"
FORGET_CATALOGUES = "DELETE FROM catalogues WHERE digest NOT IN (SELECT catalogue FROM replies)"

STATS = """
    SELECT model, count(*), count(DISTINCT file), min(recorded), max(recorded) FROM replies
    GROUP BY model ORDER BY model
"""
