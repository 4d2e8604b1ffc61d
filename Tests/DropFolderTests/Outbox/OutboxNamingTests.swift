import ChuteSystem
import DropFolder
import TestSupport
import Testing

@Suite struct OutboxNamingTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [
        ("photo.jpg", "photo.jpg"),
        ("100%.jpg", "100%.jpg"),
        ("%2e%2e", "%2e%2e"),
        ("trailing.jpg ", "trailing.jpg "),
        ("a:b?.jpg", "a:b?.jpg"),
        (".bashrc", "_bashrc"),
        ("..jpg", "_.jpg"),
        ("...", "_.."),
        ("a\nb\u{7F}.jpg", "a%0Ab%7F.jpg"),
        ("c\u{85}d", "c%C2%85d"),
        ("x\u{202E}gpj.exe", "x%E2%80%AEgpj.exe"),
        ("i\u{2066}j", "i%E2%81%A6j"),
        ("family\u{200D}\u{200F}.jpg", "family\u{200D}\u{200F}.jpg"),
    ])
    func `a component is kept or mapped`(component: String, expected: String) throws {
        #expect(try OutboxNaming().name(component: bytes(component)) == bytes(expected))
    }

    @Test(
        arguments: [
            [0x63, 0x61, 0x66, 0xE9], [0xFF], [0xED, 0xA0, 0x80], [0x80, 0x9F], [0xF8, 0x88, 0x80],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are kept`(component: [UInt8]) throws {
        #expect(try OutboxNaming().name(component: component) == component)
    }

    @Test(
        arguments: [
            ("../evil.jpg", .dotDot), ("/etc/passwd", .absolute), ("a//b", .empty), ("", .empty),
            ("a/./b", .dot), ("a\0b", .nul), ("a/", .empty), ("//", .absolute),
        ] as [(String, OutboxNaming.Refusal)])
    func `a path that could lead elsewhere is refused`(
        path: String, refusal: OutboxNaming.Refusal
    ) {
        #expect(throws: refusal) {
            try OutboxNaming().name(OutboxNaming.split(BytePath(path)))
        }
    }

    @Test func `a component with a slash in it is refused`() {
        #expect(throws: OutboxNaming.Refusal.separator) {
            try OutboxNaming().name([bytes("../x")])
        }
    }

    @Test func `64 components are the most`() throws {
        let deep = Array(repeating: bytes("a"), count: 64)
        #expect(try OutboxNaming().name(deep) == deep)
        #expect(throws: OutboxNaming.Refusal.tooDeep) {
            try OutboxNaming().name(deep + [bytes("a")])
        }
    }

    @Test(arguments: [
        String(repeating: "a", count: 300) + ".jpg",
        String(repeating: "é", count: 150) + ".jpeg",
        String(repeating: "写", count: 100) + ".jpg",
        "x" + String(repeating: "😀", count: 80),
        String(repeating: "\n", count: 200) + ".png",
        "a." + String(repeating: "b", count: 400),
    ])
    func `a long name is cut between characters and keeps its extension`(name: String) throws {
        let short = try OutboxNaming().name(component: bytes(name))
        #expect(short.count <= 255)
        #expect(short.count > 250)
        #expect(String(validating: short, as: UTF8.self) != nil)
        if name.hasSuffix("g") { #expect(short.suffix(4) == bytes(name).suffix(4)) }
    }

    @Test func `a long name that is not UTF-8 is cut between bytes`() throws {
        let name = Array(repeating: UInt8(0xE9), count: 300)
        #expect(try OutboxNaming().name(component: name) == Array(name.prefix(255)))
    }

    @Test(arguments: [
        ("photo.jpg", "photo (2).jpg"), ("a.tar.gz", "a.tar (2).gz"), ("README", "README (2)"),
        ("dot.", "dot. (2)"), ("_jpg", "_jpg (2)"), ("a (2).jpg", "a (2) (2).jpg"),
    ])
    func `the suffix goes before the last extension`(name: String, expected: String) {
        #expect(OutboxNaming.candidate(bytes(name), 1) == bytes(name))
        #expect(OutboxNaming.candidate(bytes(name), 2) == bytes(expected))
    }

    @Test func `a folder's suffix goes to the end`() {
        let candidate = OutboxNaming.candidate(bytes("my.home"), 3, isFolder: true)
        #expect(candidate == bytes("my.home (3)"))
    }

    @Test func `the suffix shortens a full stem between characters`() {
        let name = bytes(String(repeating: "写", count: 83) + ".jpgx")
        let candidate = OutboxNaming.candidate(name, 10)
        #expect(candidate == bytes(String(repeating: "写", count: 81) + " (10).jpgx"))
    }

    @Test(arguments: [
        ("a:b?.jpg", "a%3Ab%3F.jpg"), ("end.", "end%2E"), ("end  ", "end %20"), ("CON", "_CON"),
        ("com1.txt", "_com1.txt"), ("console", "console"), ("back\\slash", "back%5Cslash"),
    ])
    func `a folding file system gets names that it can keep`(name: String, expected: String) throws
    {
        let naming = OutboxNaming(isPortable: true)
        #expect(try naming.name(component: bytes(name)) == bytes(expected))
        #expect(try naming.name(component: bytes(expected)) == bytes(expected))
    }

    @Test(
        .enabled(if: NamesCorpus.isPresent, "the corpus is not there"),
        arguments: NamesCorpus.names)
    func `every name of the corpus is kept, mapped or refused by the rules`(
        name: NamesCorpus.Name
    ) throws {
        let parts = OutboxNaming.split(BytePath(bytes: name.bytes))
        let isRefused =
            parts.contains { $0.isEmpty || $0 == [0x2E] || $0 == [0x2E, 0x2E] || $0.contains(0) }
            || parts.count > 64
        guard !isRefused else {
            #expect(throws: OutboxNaming.Refusal.self) { try OutboxNaming().name(parts) }
            return
        }
        let named = try OutboxNaming().name(parts)
        #expect(named.count == parts.count)
        for (component, original) in zip(named, parts) {
            #expect(component.first != UInt8(ascii: "."))
            #expect((1...255).contains(component.count))
            #expect(!component.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x2F })
            let isPlain =
                original.first != UInt8(ascii: ".") && original.count <= 255
                && String(decoding: original, as: UTF8.self).unicodeScalars.allSatisfy {
                    $0.properties.generalCategory != .control
                        && !(0x202A...0x202E).contains($0.value)
                        && !(0x2066...0x2069).contains($0.value)
                }
            #expect((component == original) == isPlain)
        }
    }
}
