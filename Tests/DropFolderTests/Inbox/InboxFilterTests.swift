import ChuteSystem
import DropFolder
import Testing

struct InboxFilterTests {
    private static let names: [(BytePath, InboxFilter.Verdict)] = [
        (BytePath("IMG_0001.JPG"), InboxFilter.Verdict.share), ("a/b/c.txt", .share),
        ("().jpg", .share), (BytePath(bytes: [0x61, 0xFF]), .share), (" leading.jpg", .share),
        ("party.parts", .share), ("tmp", .share), ("a.tmp.jpg", .share), ("#1.jpg", .share),
        (".jpg", .skip(.hidden)), ("..jpg", .skip(.hidden)), ("a/.hidden/b.jpg", .skip(.hidden)),
        (".IMG_0001.jpg.Xa12bC", .skip(.hidden)), (".DS_Store", .skip(.hidden)),
        ("._IMG_0001.JPG", .skip(.hidden)), (".nomedia", .skip(.hidden)),
        (".goutputstream-ABC123", .skip(.hidden)),
        ("IMG_0001.jpg.crdownload", .skip(.ignored)), ("IMG_0001.jpg.part", .skip(.ignored)),
        ("scan.part", .skip(.ignored)), ("IMG_0001.jpg.filepart", .skip(.ignored)),
        ("qt_temp.JL3449", .skip(.ignored)), ("~$report.docx", .skip(.ignored)),
        ("IMG_0001.jpg~", .skip(.ignored)), ("Thumbs.db", .skip(.ignored)),
        ("desktop.ini", .skip(.ignored)), ("@eaDir", .skip(.ignored)),
        ("photos/@eaDir/x.jpg/thumb.jpg", .skip(.ignored)),
        (".chute", .invisible), ("a/.chute/id", .invisible), (".chute/held/.x", .invisible),
    ]

    @Test(arguments: names)
    func `names are judged by their bytes`(path: BytePath, verdict: InboxFilter.Verdict) {
        #expect(InboxFilter().verdict(path, isFolder: false) == verdict)
    }

    @Test func `too deep a path is refused`() {
        let deep = BytePath(components: Array(repeating: Array("d".utf8), count: 64))
        #expect(InboxFilter().verdict(deep, isFolder: false) == .share)
        #expect(InboxFilter().verdict(deep.appending("e"), isFolder: false) == .skip(.nameRefused))
    }

    private static let patterns: [(String, BytePath, Bool)] = [
        ("*.raw", BytePath("a.raw"), true), ("*.raw", "sub/a.raw", true), ("*.raw", "a.RAW", false),
        ("a?c", "abc", true), ("a?c", "a/c", false), ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false), ("[^a-c]x", "dx", true), ("[]]", "]", true), ("[", "[", true),
        ("\\*", "*", true), ("\\*", "x", false), ("*", "a", true), ("**", "a/b", true),
        ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false),
        ("private/*.txt", "private/x.txt", true), ("private/*.txt", "x/private/x.txt", false),
        ("private/*.txt", "private/a/x.txt", false), ("private/**", "private/a/x.txt", true),
        ("/top", "top", true), ("/top", "sub/top", false), ("/top", "top/in.txt", true),
        ("cache/", "cache", false), ("cache/", "cache/x", true), ("cache/", "a/cache/x", true),
        ("x/cache/", "x/cache/f", true), ("x/cache/", "x/cache", false), ("", "a", false),
    ]

    @Test(arguments: patterns)
    func `patterns match as people expect`(pattern: String, path: BytePath, isMatch: Bool) {
        #expect(IgnorePatterns([pattern]).matches(path, isFolder: false) == isMatch)
    }

    @Test func `a pattern for folders matches a folder`() {
        #expect(IgnorePatterns(["cache/"]).matches("cache", isFolder: true))
        #expect(IgnorePatterns(["x/cache/"]).matches("x/cache", isFolder: true))
    }

    @Test func `a question mark is one byte, also of a name that is no text`() {
        #expect(IgnorePatterns(["a?"]).matches(BytePath(bytes: [0x61, 0xFF]), isFolder: false))
    }

    @Test func `many stars take no time`() {
        let pattern = String(repeating: "*a", count: 60) + "b"
        let name = BytePath(bytes: Array(repeating: UInt8(ascii: "a"), count: 255))
        #expect(!IgnorePatterns([pattern]).matches(name, isFolder: false))
    }
}
