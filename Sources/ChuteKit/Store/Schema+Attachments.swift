extension Schema {
    static let pins = """
        -- Attachments that garbage collection leaves alone. reason: 0 the application asked for
        -- it, 1 the file was moved in and no document has named it yet: these may be the only
        -- bytes there are.
        CREATE TABLE pins (
            digest BLOB NOT NULL, length INTEGER NOT NULL, reason INTEGER NOT NULL,
            PRIMARY KEY (digest, length, reason)) WITHOUT ROWID;
        """
}
