import CSQLite

/// The row a statement stands on, read by column index from 0. Lives only inside the closure that
/// was given it.
///
/// SQLite's own conversions apply: `NULL` reads as 0, as nothing or as the empty text. The
/// `optional…` forms tell it apart.
package struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    package func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

    package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// The number that was bound as `UInt64`: the same bits.
    package func uint64(_ column: Int32) -> UInt64 {
        UInt64(bitPattern: sqlite3_column_int64(statement, column))
    }

    package func bool(_ column: Int32) -> Bool { sqlite3_column_int64(statement, column) != 0 }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    package func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    /// The text; what is not UTF-8 in it reads as U+FFFD.
    package func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The path that was bound as `BytePath`.
    package func path(_ column: Int32) -> BytePath { BytePath(bytes: bytes(column)) }

    /// Calls `body` with SQLite's own copy of the bytes, valid only in there.
    package func withBytes<Result, Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = sqlite3_column_blob(statement, column)
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    package func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }

    package func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    package func optionalUInt64(_ column: Int32) -> UInt64? {
        isNull(column) ? nil : uint64(column)
    }

    package func optionalDouble(_ column: Int32) -> Double? {
        isNull(column) ? nil : double(column)
    }

    package func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    package func optionalPath(_ column: Int32) -> BytePath? { isNull(column) ? nil : path(column) }
}
