import CCBOR

extension CBOR {
    /// The one encoding of this value.
    ///
    /// A map out of order is brought into order; a key twice stops the program. A value deeper than
    /// the decoder's limit is encoded, and refused by whoever decodes it.
    ///
    /// Calls `cbor_encode_uint` and its relatives.
    package func encoded() -> [UInt8] {
        let size = encodedSize
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var writer = Writer(buffer: buffer)
            writer.write(self)
            precondition(writer.offset == size, "a size was computed wrongly")
            count = size
        }
    }

    /// How many bytes `encoded()` returns.
    package var encodedSize: Int {
        switch self {
        case .unsigned(let number), .negative(let number): Self.headerSize(number)
        case .bytes(let bytes): Self.headerSize(UInt64(bytes.count)) + bytes.count
        case .text(let text): Self.headerSize(UInt64(text.utf8.count)) + text.utf8.count
        case .array(let items):
            items.reduce(Self.headerSize(UInt64(items.count))) { $0 + $1.encodedSize }
        case .map(let entries):
            entries.reduce(Self.headerSize(UInt64(entries.count))) {
                $0 + $1.key.encodedSize + $1.value.encodedSize
            }
        case .bool, .null: 1
        case .double: 9
        }
    }

    /// The size of the shortest header that carries `number`.
    static func headerSize(_ number: UInt64) -> Int {
        switch number {
        case 0..<24: 1
        case 24...0xFF: 2
        case 0x100...0xFFFF: 3
        case 0x1_0000...0xFFFF_FFFF: 5
        default: 9
        }
    }

    /// Writes into a buffer that is large enough.
    private struct Writer {
        let buffer: UnsafeMutableBufferPointer<UInt8>
        var offset = 0

        private typealias Header<Value> = (Value, UnsafeMutablePointer<UInt8>?, Int) -> Int

        mutating func write(_ value: CBOR) {
            switch value {
            case .unsigned(let number): header(number, cbor_encode_uint)
            case .negative(let number): header(number, cbor_encode_negint)
            case .bytes(let bytes):
                header(bytes.count, cbor_encode_bytestring_start)
                bytes.withUnsafeBytes { append($0) }
            case .text(var text):
                header(text.utf8.count, cbor_encode_string_start)
                text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
            case .array(let items):
                header(items.count, cbor_encode_array_start)
                for item in items { write(item) }
            case .map(let entries):
                header(entries.count, cbor_encode_map_start)
                let start = offset
                if !write(ordered: entries), case .map(let sorted) = CBOR.map(sorting: entries) {
                    offset = start
                    _ = write(ordered: sorted)
                }
            case .bool(let flag): header(flag, cbor_encode_bool)
            case .null: offset += cbor_encode_null(free.baseAddress, free.count)
            case .double(let number):
                header(Double(bitPattern: number.cborBits), cbor_encode_double)
            }
        }

        /// Stops and returns `false` where a key does not come after the one before it.
        private mutating func write(ordered entries: [Entry]) -> Bool {
            var previous = 0..<0
            for entry in entries {
                let start = offset
                write(entry.key)
                let key = start..<offset
                let isOrdered =
                    previous.isEmpty
                    || buffer[previous].lexicographicallyPrecedes(buffer[key])
                guard isOrdered else { return false }
                previous = key
                write(entry.value)
            }
            return true
        }

        private var free: UnsafeMutableBufferPointer<UInt8> {
            UnsafeMutableBufferPointer(rebasing: buffer[offset...])
        }

        private mutating func header<Value>(_ value: Value, _ encode: Header<Value>) {
            let written = encode(value, free.baseAddress, free.count)
            precondition(written > 0, "a size was computed wrongly")
            offset += written
        }

        private mutating func append(_ bytes: UnsafeRawBufferPointer) {
            UnsafeMutableRawBufferPointer(free).copyMemory(from: bytes)
            offset += bytes.count
        }
    }
}
