import CSQLite

/// What can be bound to a placeholder of a statement.
package protocol SQLValue {
    /// Binds this value, copying what it points to, and returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

/// Bound as the `Int64` of the same bits: large values sort below 0 in SQL.
extension UInt64: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(bitPattern: self))
    }
}

extension Bool: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self ? 1 : 0)
    }
}

extension Double: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_double(statement, index, self)
    }
}

extension [UInt8]: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes {
            chute_sqlite3_bind_blob(statement, index, $0.baseAddress, UInt64($0.count))
        }
    }
}

extension ArraySlice<UInt8>: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes {
            chute_sqlite3_bind_blob(statement, index, $0.baseAddress, UInt64($0.count))
        }
    }
}

extension String: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) {
                chute_sqlite3_bind_text(statement, index, $0.baseAddress, UInt64($0.count))
            }
        }
    }
}

/// Bound as a BLOB of the path's bytes.
extension BytePath: SQLValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        bytes.bind(to: statement, at: index)
    }
}
