import CSQLite
import Glibc

/// A call of SQLite that failed: the code, SQLite's own words, and the statement.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The extended result code, such as `SQLITE_CONSTRAINT_UNIQUE`.
    package let code: Int32
    /// What SQLite said, such as "UNIQUE constraint failed: document.id".
    package let message: String
    /// The statement with its placeholders, never with the values bound to them.
    package let sql: String?
    /// The `errno` beneath an I/O error, 0 where there was none.
    package let systemCode: Int32

    package init(code: Int32, message: String, sql: String? = nil, systemCode: Int32 = 0) {
        self.code = code
        self.message = message
        self.sql = sql
        self.systemCode = systemCode
    }

    /// The code without its extension, such as `SQLITE_CONSTRAINT`.
    package var primaryCode: Int32 { code & 0xFF }

    /// Another connection holds the lock, and the busy timeout has passed.
    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// The file is damaged, or no database at all.
    package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// The disk or the quota is full.
    package var isNoSpace: Bool {
        primaryCode == SQLITE_FULL
            || primaryCode == SQLITE_IOERR && (systemCode == ENOSPC || systemCode == EDQUOT)
    }

    /// A `UNIQUE`, `NOT NULL`, `CHECK` or `FOREIGN KEY` refused the change.
    package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

    package var description: String {
        let statement = sql.map { ", in: \($0)" } ?? ""
        return "\(message) (SQLite \(code)\(statement))"
    }
}
