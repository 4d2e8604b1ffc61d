import Foundation
import TestSupport
import Testing

@testable import ChuteKit

struct CodingTests {
    private struct Person: Codable, Equatable {
        struct Address: Codable, Equatable {
            var city: String
            var zip: Int?
        }

        var name: String
        var age: UInt8
        var height: Double
        var isAway: Bool
        var homes: [Address]
        var notes: [String: Int]
        var picture: AttachmentToken?
        var key: [UInt8]
        var extra: Value
        var nothing: String?
    }

    private let token = AttachmentToken(
        id: AttachmentID.test(byteCount: 5),
        metadata: ["filename": "a.jpg"])

    private var person: Person {
        Person(
            name: "Ada", age: 36, height: 1.7, isAway: false,
            homes: [.init(city: "London", zip: nil), .init(city: "Paris", zip: 75_001)],
            notes: ["a": 1, "b": 2], picture: token, key: [1, 2, 255],
            extra: ["x": [1, "two", 3.5]], nothing: nil)
    }

    @Test func `a value of a type of one's own comes back as it was`() throws {
        let fields = try ValueEncoder().encode(fields: person)
        #expect(fields["picture"]?.attachmentToken == token)
        #expect(fields["key"]?.bytes == [1, 2, 255])
        #expect(fields["nothing"] == nil)
        #expect(fields[["homes"]]?.array?.count == 2)
        #expect(try ValueDecoder().decode(Person.self, from: fields) == person)
    }

    private struct Tagged: Codable, Equatable {
        var tags: [String] = []
        var sizes: [Int] = []
        var bytes: [UInt8] = []
    }

    @Test func `an empty array of anything but bytes is an empty array`() throws {
        let fields = try ValueEncoder().encode(fields: Tagged())
        #expect(fields == ["tags": [], "sizes": [], "bytes": .bytes([])])
        #expect(try ValueDecoder().decode(Tagged.self, from: fields) == Tagged())
    }

    private class Animal: Codable {
        var legs = 4
        init() {}
    }

    private final class Dog: Animal {
        var name = "Rex"
        override init() { super.init() }
        private enum CodingKeys: CodingKey { case name }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func `a class brings what its superclass has`() throws {
        let dog = Dog()
        dog.legs = 3
        let read = try ValueDecoder().decode(Dog.self, from: ValueEncoder().encode(dog))
        #expect(read.legs == 3 && read.name == "Rex")
    }

    @Test func `numbers that do not fit are refused, on both ways`() throws {
        #expect(throws: EncodingError.self) { try ValueEncoder().encode(["a": UInt64.max]) }
        #expect(throws: DecodingError.self) {
            try ValueDecoder().decode(UInt8.self, from: .integer(256))
        }
        #expect(throws: DecodingError.self) {
            try ValueDecoder().decode([String: Int].self, from: ["a": "1"] as Fields)
        }
        #expect(throws: DecodingError.self) {
            try ValueDecoder().decode(Person.self, from: ["name": "Ada"] as Fields)
        }
        #expect(throws: EncodingError.self) { try ValueEncoder().encode(fields: [1, 2]) }
    }

    @Test func `values go through JSON`() throws {
        let value: Value = ["a": [1, 2.5, "t", true, .null], "t": .attachment(token)]
        let json = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Value.self, from: json) == value)
    }

    @Test func `a document decodes with its id`() throws {
        struct Named: Decodable {
            var _id: String
            var name: String
        }
        let document = Document(
            id: try #require(DocumentID("ada")), collection: "people", origin: nil,
            fields: ["name": "Ada"])
        let named = try document.decode(Named.self)
        #expect(named._id == "ada" && named.name == "Ada")
    }

    @Test func `an empty array of texts stays an array, one of bytes stays bytes`() throws {
        struct Lists: Codable, Equatable {
            var texts: [String] = []
            var bytes: [UInt8] = []
            var homes: [Person.Address] = []
        }
        let fields = try ValueEncoder().encode(fields: Lists())
        #expect(fields == ["texts": [], "bytes": .bytes([]), "homes": []])
        #expect(try ValueDecoder().decode(Lists.self, from: fields) == Lists())
    }
}
