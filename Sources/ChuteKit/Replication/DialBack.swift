import ChuteSystem

/// Asks the other end to dial an address of this one, and to say who answers there.
struct DialBack: Hashable, Sendable {
    let number: UInt32
    /// `HOST:PORT`.
    let address: String

    /// The most bytes of an address.
    static let addressLimit = 300

    init(number: UInt32, address: String) {
        self.number = number
        self.address = address
    }

    var cbor: CBOR { .map([0: .unsigned(UInt64(number)), 1: .text(address)]) }

    init(cbor: CBOR) throws(WireError) {
        guard let number = cbor[0]?.uint.flatMap(UInt32.init(exactly:)),
            let address = cbor[1]?.textValue, address.utf8.count <= Self.addressLimit
        else { throw .malformed("a request to dial back") }
        self.init(number: number, address: address)
    }
}

/// The answer to a `DialBack`.
struct DialedBack: Hashable, Sendable {
    /// What became of it.
    enum Word: UInt64, Sendable {
        /// Nobody answered, or somebody else.
        case notReached = 0
        /// The device that asked answered.
        case reached = 1
        /// It was not tried: the address is none that this member may have dialled, or it asks
        /// too often.
        case notTried = 2
    }

    let number: UInt32
    let word: Word

    init(number: UInt32, word: Word) {
        self.number = number
        self.word = word
    }

    var cbor: CBOR { .map([0: .unsigned(UInt64(number)), 1: .unsigned(word.rawValue)]) }

    init(cbor: CBOR) throws(WireError) {
        guard let number = cbor[0]?.uint.flatMap(UInt32.init(exactly:)), let word = cbor[1]?.uint
        else { throw .malformed("an answer to a request to dial back") }
        // A word of a later version says nothing here.
        self.init(number: number, word: Word(rawValue: word) ?? .notTried)
    }
}
