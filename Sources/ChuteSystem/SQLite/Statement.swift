import CSQLite

/// One compiled statement, from `Connection.prepare`.
///
/// Each call binds its values by position, runs, and leaves the statement reset and without values,
/// also where it throws. The values must be as many as the placeholders. Using a statement from a
/// closure that is reading its own rows stops the program; `prepare` gives a second one for that.
package final class Statement {
    private let handle: OpaquePointer
    private let sql: StaticString
    private let connection: Connection
    private let placeholderCount: Int
    private var isRunning = false

    init(_ handle: OpaquePointer, sql: StaticString, connection: Connection) {
        self.handle = handle
        self.sql = sql
        self.connection = connection
        placeholderCount = Int(sqlite3_bind_parameter_count(handle))
    }

    deinit { connection.takeBack(handle, sql: sql) }

    /// Runs the statement to its end; rows are dropped.
    package func run(_ values: (any SQLValue)?...) throws(SQLiteError) {
        try run(values: values)
    }

    /// Runs the statement to its end with values from an array; rows are dropped.
    package func run(values: [(any SQLValue)?]) throws(SQLiteError) {
        try begin(values)
        defer { end() }
        while try step() {}
    }

    /// What `body` makes of the first row, `nil` without a row.
    package func first<Result>(
        _ values: (any SQLValue)?..., body: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try first(values: values, body: body)
    }

    /// What `body` makes of the first row, with values from an array; `nil` without a row.
    package func first<Result>(
        values: [(any SQLValue)?], body: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try begin(values)
        defer { end() }
        return try step() ? body(Row(handle)) : nil
    }

    /// What `body` makes of each row, in the statement's order.
    package func all<Result>(
        _ values: (any SQLValue)?..., body: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        try all(values: values, body: body)
    }

    /// What `body` makes of each row, with values from an array.
    package func all<Result>(
        values: [(any SQLValue)?], body: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try forEach(values: values) { row in results.append(try body(row)) }
        return results
    }

    /// Calls `body` with each row as it is found; ends early when `body` throws.
    package func forEach(
        _ values: (any SQLValue)?..., body: (borrowing Row) throws -> Void
    ) throws {
        try forEach(values: values, body: body)
    }

    /// Calls `body` with each row as it is found, with values from an array.
    package func forEach(
        values: [(any SQLValue)?], body: (borrowing Row) throws -> Void
    ) throws {
        try begin(values)
        defer { end() }
        while try step() { try body(Row(handle)) }
    }

    private func begin(_ values: [(any SQLValue)?]) throws(SQLiteError) {
        precondition(!isRunning, "this statement is in use: \(sql)")
        precondition(values.count == placeholderCount, "values do not fit: \(sql)")
        var index: Int32 = 0
        for value in values {
            index += 1
            guard let value else { continue }  // no value is bound, which is NULL
            let code = value.bind(to: handle, at: index)
            guard code == SQLITE_OK else {
                let error = connection.failure(code, sql.description)
                sqlite3_clear_bindings(handle)
                throw error
            }
        }
        isRunning = true
    }

    private func end() {
        // Repeats the error of the last step, which is thrown already.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isRunning = false
    }

    /// Whether there is a row. Calls `sqlite3_step`.
    private func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw connection.failure(code, sql.description)
    }
}
