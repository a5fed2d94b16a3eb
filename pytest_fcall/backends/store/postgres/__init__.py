"""The store on a PostgreSQL server, for the processes of many hosts. Times are those of the server."""
