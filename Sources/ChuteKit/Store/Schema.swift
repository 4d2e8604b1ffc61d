import ChuteSystem

/// The tables of a store and how an older database becomes today's.
///
/// Migrations are append-only. Numbers of 32 bytes, ids and paths are BLOBs; times are integers
/// with their unit in the name.
enum Schema {
    /// The version that this code writes; kept in `PRAGMA user_version`.
    static var version: Int { migrations.count }

    /// Throws `storeIsNewer` for a database of a later version and leaves it as it is.
    static func check(_ database: Connection) throws {
        let found = try found(in: database)
        guard found <= version else {
            throw ChuteError(
                .storeIsNewer,
                "the store was written by a later version (\(found), this one knows \(version)): "
                    + "install that version again")
        }
    }

    private static func found(in database: Connection) throws -> Int {
        try database.prepare("PRAGMA user_version").first { $0.int(0) } ?? 0
    }

    /// Brings a database that was checked to `target`, all steps in one transaction: who looks
    /// meanwhile finds the old version or the new one, and never takes one between for that of
    /// another program.
    static func migrate(_ database: Connection, to target: Int = version) throws {
        try database.transaction(.immediate) {
            for step in try found(in: database)..<target {
                try database.execute(migrations[step])
                try database.execute("PRAGMA user_version = \(step + 1)")
            }
        }
    }

    private static let migrations = [first, second, indexes, pins]

    private static let first = """
        -- Single facts about this store: the space, the author's counter, the clock.
        CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

        -- All that was learned, own and relayed, in the order of learning. `tag` is random: a
        -- peer's cursor (n, tag) from before a restore does not match and starts over. A
        -- superseded row keeps n and tag alone. state: 0 applied, 1 held (author not known,
        -- beyond a cut-off, or of a kind that this version does not know).
        CREATE TABLE changes (
            n INTEGER PRIMARY KEY, tag BLOB NOT NULL, hash BLOB, kind INTEGER, author BLOB,
            counter INTEGER, batch INTEGER, state INTEGER, via BLOB, body BLOB);
        CREATE UNIQUE INDEX changes_hash ON changes (hash) WHERE hash IS NOT NULL;
        CREATE INDEX changes_author ON changes (author, counter) WHERE hash IS NOT NULL;
        CREATE INDEX changes_facts ON changes (kind) WHERE kind = 3 AND hash IS NOT NULL;

        -- What was signed together: see SignedBatch.
        CREATE TABLE batches (
            id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, header BLOB NOT NULL,
            signature BLOB NOT NULL);

        -- The current version of each document that one device alone writes. `change` is the
        -- hash of the change that made it, `n` when it was learned. body is NULL once its
        -- author took it back. hidden: its author is out and wrote it beyond the cut-off.
        CREATE TABLE documents (
            collection TEXT NOT NULL, id BLOB NOT NULL, origin BLOB NOT NULL,
            version INTEGER NOT NULL, change BLOB NOT NULL, n INTEGER NOT NULL,
            hidden INTEGER NOT NULL DEFAULT 0, seed BLOB NOT NULL, body BLOB,
            PRIMARY KEY (collection, id)) WITHOUT ROWID;
        CREATE INDEX documents_n ON documents (collection, n);
        CREATE INDEX documents_origin ON documents (collection, origin);

        -- Which documents name which attachment; an attachment in no row is garbage.
        CREATE TABLE tokens (
            digest BLOB NOT NULL, length INTEGER NOT NULL, collection TEXT NOT NULL,
            document BLOB NOT NULL, PRIMARY KEY (digest, length, collection, document)
            ) WITHOUT ROWID;
        CREATE INDEX tokens_document ON tokens (collection, document);

        -- The hashes of the pieces of attachments over one piece, checked against their id.
        CREATE TABLE layers (
            digest BLOB NOT NULL, length INTEGER NOT NULL, layer BLOB NOT NULL,
            PRIMARY KEY (digest, length)) WITHOUT ROWID;

        -- Folders that hold blobs: the store's own, inboxes, outboxes. mark: what
        -- `.chute/id` there says.
        CREATE TABLE roots (
            id INTEGER PRIMARY KEY, mark BLOB NOT NULL UNIQUE, path BLOB NOT NULL,
            role TEXT NOT NULL, identity BLOB);

        -- Where the bytes lie: in the file `path` below a root, while it has `fingerprint`.
        -- owned: nobody else writes there. Otherwise a user can change it at any time.
        CREATE TABLE locations (
            digest BLOB NOT NULL, length INTEGER NOT NULL, root INTEGER NOT NULL,
            path BLOB NOT NULL, fingerprint BLOB NOT NULL, owned INTEGER NOT NULL,
            PRIMARY KEY (digest, length, root, path)) WITHOUT ROWID;
        CREATE INDEX locations_path ON locations (root, path);

        -- Attachments to be fetched, each into a staged file of its own. An id is never given
        -- twice: whoever follows along asks for those after the last one. part: 0 all of it, 1
        -- its first piece, 2 what is missing in the staged file.
        CREATE TABLE wants (
            id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL, length INTEGER NOT NULL,
            root INTEGER NOT NULL, path BLOB NOT NULL, source BLOB,
            part INTEGER NOT NULL DEFAULT 0);
        CREATE INDEX wants_attachment ON wants (digest, length);

        -- What devices did with versions of documents: see Receipt. version and change order
        -- the statements of one device about one version.
        CREATE TABLE receipts (
            collection TEXT NOT NULL, document BLOB NOT NULL, version BLOB NOT NULL,
            device BLOB NOT NULL, state INTEGER NOT NULL, reason TEXT, removed INTEGER NOT NULL,
            statement INTEGER NOT NULL, change BLOB NOT NULL,
            PRIMARY KEY (document, version, device)) WITHOUT ROWID;

        -- How far each peer's stream has come here.
        CREATE TABLE cursors (
            peer BLOB PRIMARY KEY, n INTEGER NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID;

        -- Invitations of this device; the secret is kept as a hash.
        CREATE TABLE tickets (
            id TEXT PRIMARY KEY, secret BLOB NOT NULL UNIQUE, role TEXT NOT NULL,
            uses INTEGER NOT NULL, expires_seconds INTEGER NOT NULL,
            revoked INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE ticket_uses (
            ticket TEXT NOT NULL, device BLOB NOT NULL, used_seconds INTEGER NOT NULL,
            PRIMARY KEY (ticket, device)) WITHOUT ROWID;

        -- Who is or was connected; the rest of a row is from the last connection.
        CREATE TABLE presence (
            device BLOB PRIMARY KEY, connected INTEGER NOT NULL, transport TEXT NOT NULL,
            address TEXT NOT NULL, seen_seconds INTEGER NOT NULL) WITHOUT ROWID;

        -- What another process asks of the engine, and its answer.
        CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL, answer BLOB, made_seconds INTEGER NOT NULL);

        -- Local collections: never replicated, in one transaction with what is.
        CREATE TABLE local_rows (
            collection TEXT NOT NULL, key BLOB NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (collection, key)) WITHOUT ROWID;
        CREATE TABLE local_index (
            collection TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, key BLOB NOT NULL,
            PRIMARY KEY (collection, name, value, key)) WITHOUT ROWID;
        """
    private static let second = """
        -- Documents of both kinds. `n`: when the document as it stands was learned. hidden: 1 its
        -- author is out and wrote it beyond the cut-off, 2 put away here by evict. `body` is NULL
        -- once it was taken back or removed, or before the change that makes it came.
        --
        -- One device alone writes it: origin, version, change (the hash of the change that made
        -- this version), change_n (its row), seed. Merged: all these are NULL, and `live` lists
        -- the rows of the changes that count, in their order, as CBOR.
        CREATE TABLE documents_new (
            collection TEXT NOT NULL, id BLOB NOT NULL, n INTEGER NOT NULL,
            hidden INTEGER NOT NULL DEFAULT 0, origin BLOB, version INTEGER, change BLOB,
            change_n INTEGER, seed BLOB, live BLOB, body BLOB,
            PRIMARY KEY (collection, id)) WITHOUT ROWID;
        INSERT INTO documents_new
            SELECT collection, id, n, hidden, origin, version, change,
                (SELECT c.n FROM changes c WHERE c.hash = documents.change), seed, NULL, body
            FROM documents;
        DROP TABLE documents;
        ALTER TABLE documents_new RENAME TO documents;
        CREATE INDEX documents_n ON documents (collection, n) WHERE origin IS NOT NULL;
        CREATE INDEX documents_origin ON documents (collection, origin) WHERE origin IS NOT NULL;

        -- change_n is the row of the change that made the statement.
        ALTER TABLE receipts ADD COLUMN change_n INTEGER;
        UPDATE receipts SET change_n = (SELECT n FROM changes c WHERE c.hash = receipts.change);

        -- A change is found by its author and counter: entries that come in order cost a
        -- fraction of those at random places.
        DROP INDEX changes_hash;
        """
}
