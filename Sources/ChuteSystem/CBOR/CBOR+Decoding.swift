import CCBOR
import Glibc

extension CBOR {
    /// What a decoder accepts at most.
    package struct Limits: Sendable {
        /// All values, keys and containers together.
        package var itemCount: Int
        /// Containers within each other: 1 is an array of plain values.
        package var depth: Int

        package init(itemCount: Int = 1 << 20, depth: Int = 32) {
            self.itemCount = itemCount
            self.depth = depth
        }
    }

    /// The value that all of `bytes` encode, which `encoded()` turns into the same bytes again.
    ///
    /// Anything else is refused. Memory is only taken for items that the rest of the input can
    /// hold. Calls `cbor_stream_decode`.
    package static func decode(
        _ bytes: [UInt8], limits: Limits = Limits()
    ) throws(CBORError) -> CBOR {
        try bytes.withUnsafeBufferPointer { buffer throws(CBORError) in
            try decode(buffer, limits: limits)
        }
    }

    /// As above; offsets in an error count from the slice's start.
    package static func decode(
        _ bytes: ArraySlice<UInt8>, limits: Limits = Limits()
    ) throws(CBORError) -> CBOR {
        try bytes.withUnsafeBufferPointer { buffer throws(CBORError) in
            try decode(buffer, limits: limits)
        }
    }

    /// As above.
    package static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits = Limits()
    ) throws(CBORError) -> CBOR {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            throw CBORError(.truncated, at: 0)
        }
        var reader = Reader(start: start, count: bytes.count, limits: limits)
        let value = try reader.next(depth: 0)
        if reader.offset != bytes.count { throw CBORError(.trailing, at: reader.offset) }
        return value
    }
}

/// Reads item by item; strict as it goes, so that nothing has to be encoded again to compare.
private struct Reader {
    let start: UnsafePointer<UInt8>
    let count: Int
    let limits: CBOR.Limits
    var offset = 0
    /// Items that have been announced and not been read.
    var announced = 1
    /// Items announced in all.
    var total = 1

    init(start: UnsafePointer<UInt8>, count: Int, limits: CBOR.Limits) {
        self.start = start
        self.count = count
        self.limits = limits
    }

    mutating func next(depth: Int) throws(CBORError) -> CBOR {
        let at = offset
        var item = chute_cbor_item()
        let result = chute_cbor_next(start + at, count - at, &item)
        switch result.status {
        case CBOR_DECODER_FINISHED: break
        case CBOR_DECODER_NEDATA: throw CBORError(.truncated, at: at)
        default: throw CBORError(.malformed, at: at)
        }
        offset += result.read
        announced -= 1

        switch Int(item.kind) {
        case chute_cbor_kind_unsigned:
            try requireShortest(item.value, size: result.read, at)
            return .unsigned(item.value)
        case chute_cbor_kind_negative:
            try requireShortest(item.value, size: result.read, at)
            return .negative(item.value)
        case chute_cbor_kind_bytes:
            return .bytes(Array(try payload(item, size: result.read, at)))
        case chute_cbor_kind_text:
            let utf8 = try payload(item, size: result.read, at)
            guard let text = String(validating: utf8, as: UTF8.self) else {
                throw CBORError(.invalidText, at: at)
            }
            return .text(text)
        case chute_cbor_kind_array:
            try requireShortest(item.value, size: result.read, at)
            return .array(try array(try announce(item.value, 1, depth, at), depth + 1))
        case chute_cbor_kind_map:
            try requireShortest(item.value, size: result.read, at)
            return .map(try map(try announce(item.value, 2, depth, at), depth + 1))
        case chute_cbor_kind_bool: return .bool(item.value != 0)
        case chute_cbor_kind_null: return .null
        case chute_cbor_kind_double:
            guard !item.number.isNaN || isOnlyNaN(at) else {
                throw CBORError(.notCanonicalNaN, at: at)
            }
            return .double(item.number)
        case chute_cbor_kind_forbidden: throw CBORError(.forbidden, at: at)
        default: throw CBORError(.malformed, at: at)
        }
    }

    private mutating func array(_ count: Int, _ depth: Int) throws(CBORError) -> [CBOR] {
        var items: [CBOR] = []
        items.reserveCapacity(count)
        for _ in 0..<count { items.append(try next(depth: depth)) }
        return items
    }

    private mutating func map(_ count: Int, _ depth: Int) throws(CBORError) -> [CBOR.Entry] {
        var entries: [CBOR.Entry] = []
        entries.reserveCapacity(count)
        var previous = 0..<0
        for _ in 0..<count {
            let begin = offset
            let key = try next(depth: depth)
            let range = begin..<offset
            if !previous.isEmpty { try requireOrder(previous, range) }
            previous = range
            entries.append(CBOR.Entry(key: key, value: try next(depth: depth)))
        }
        return entries
    }

    /// Takes note of a container's items. Each takes a byte at least: what the rest of the input
    /// cannot hold is refused before memory is taken for it.
    private mutating func announce(
        _ count: UInt64, _ itemsEach: Int, _ depth: Int, _ at: Int
    ) throws(CBORError) -> Int {
        if depth >= limits.depth { throw CBORError(.tooDeep, at: at) }
        guard count <= UInt64(self.count) else { throw CBORError(.truncated, at: at) }
        let items = Int(count) * itemsEach
        announced += items
        total += items
        if announced > self.count - offset { throw CBORError(.truncated, at: at) }
        if total > limits.itemCount { throw CBORError(.tooManyItems, at: at) }
        return Int(count)
    }

    private func requireShortest(_ number: UInt64, size: Int, _ at: Int) throws(CBORError) {
        if CBOR.headerSize(number) != size { throw CBORError(.notShortest, at: at) }
    }

    private func payload(
        _ item: chute_cbor_item, size: Int, _ at: Int
    ) throws(CBORError) -> UnsafeBufferPointer<UInt8> {
        try requireShortest(item.value, size: size - Int(item.value), at)
        return UnsafeBufferPointer(start: item.bytes, count: Int(item.value))
    }

    /// By the input's own bytes: a NaN's payload may not survive being passed as a number.
    private func isOnlyNaN(_ at: Int) -> Bool {
        (1..<9).allSatisfy { start[at + $0] == [0x7F, 0xF8, 0, 0, 0, 0, 0, 0][$0 - 1] }
    }

    /// No encoding is the beginning of another, so that the first difference decides.
    private func requireOrder(_ left: Range<Int>, _ right: Range<Int>) throws(CBORError) {
        let shared = min(left.count, right.count)
        let order = memcmp(start + left.lowerBound, start + right.lowerBound, shared)
        if order < 0 { return }
        throw CBORError(order == 0 ? .duplicateKey : .unsortedKeys, at: right.lowerBound)
    }
}

extension CBOR {
    /// Reads one value that takes up all of `bytes`.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, limits: Limits = Limits()
    ) throws(CBORError) -> CBOR {
        try decode(bytes.bindMemory(to: UInt8.self), limits: limits)
    }
}
