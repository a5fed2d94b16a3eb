"""What is said to the database."""

from __future__ import annotations

PUT = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
PUT_NEWER = """
    INSERT OR REPLACE INTO replies SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
    WHERE NOT EXISTS (SELECT 1 FROM replies WHERE digest = ?1 AND recorded >= ?5)
"""

USE = "INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?, ?)"
USE_ONCE = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, 0)"

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
