"""Cases from production: records read from logs and exports, masked, joined, and written as case files for review."""
