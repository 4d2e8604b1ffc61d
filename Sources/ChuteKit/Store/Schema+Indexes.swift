extension Schema {
    static let indexes = """
        -- Declared indexes. path is a CBOR array of names. progress: NULL once all documents are
        -- in it, before that the last id that is. collection is NULL once it was dropped: what is
        -- left of it goes in the background. A number is never given twice.
        CREATE TABLE field_indexes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT, path BLOB NOT NULL,
            progress BLOB, UNIQUE (collection, path));

        -- One row for each index and shown document of its collection. value: the beginning of the
        -- `OrderKey` of the field, which is there also where the field is not.
        CREATE TABLE field_index (
            field INTEGER NOT NULL, value BLOB NOT NULL, id BLOB NOT NULL,
            PRIMARY KEY (field, value, id)) WITHOUT ROWID;
        """
}
