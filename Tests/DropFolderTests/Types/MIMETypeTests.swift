import DropFolder
import Testing

@Suite struct MIMETypeTests {
    @Test(arguments: [
        ("image/JPEG", "image/jpeg"), ("text/plain; charset=utf-8", "text/plain"),
        (
            "application/vnd.ms-excel.sheet.macroEnabled.12",
            "application/vnd.ms-excel.sheet.macroenabled.12"
        ),
    ])
    func `a type is read in any case and without parameters`(text: String, expected: String) {
        #expect(MIMEType(text)?.description == expected)
    }

    @Test(arguments: ["", "image", "image/", "/jpeg", "a/b/c", "image/jp\u{E9}g", "a b/c", "*/*"])
    func `what is no type is refused`(text: String) { #expect(MIMEType(text) == nil) }

    @Test(arguments: [
        ("image/x-ms-bmp", "image/bmp"), ("video/x-matroska", "video/matroska"),
        ("image/x-icon", "image/vnd.microsoft.icon"), ("application/xml", "text/xml"),
    ])
    func `names of one format are the same`(left: String, right: String) throws {
        let (left, right) = (try #require(MIMEType(left)), try #require(MIMEType(right)))
        #expect(left.isSame(as: right))
        #expect(left != right)
        #expect(left.canonical.canonical == left.canonical)
    }

    @Test(arguments: [
        ("image/heic", "image/heif"), ("image/apng", "image/png"),
        ("image/x-nikon-nef", "image/tiff"),
        ("video/webm", "video/matroska"), ("application/epub+zip", "application/zip"),
        ("audio/mp4", "video/mp4"), ("image/svg+xml", "text/xml"),
    ])
    func `a narrower format is not the wider one`(left: String, right: String) throws {
        let (left, right) = (try #require(MIMEType(left)), try #require(MIMEType(right)))
        #expect(!left.isSame(as: right))
    }

    @Test(arguments: [
        ("*/*", "application/octet-stream", true), ("image/*", "image/heic", true),
        ("image/*", "video/mp4", false), ("IMAGE/*", "image/png", true),
        ("image/bmp", "image/x-ms-bmp", true), ("image/x-ms-bmp", "image/bmp", true),
        ("image/heic", "image/jpeg", false), ("application/xml", "text/xml", true),
        ("application/*", "text/xml", true), ("text/*", "application/rtf", true),
    ])
    func `patterns match`(pattern: String, type: String, expected: Bool) throws {
        let type = try #require(MIMEType(type))
        #expect(try #require(MIMEPattern(pattern)).matches(type) == expected)
    }

    @Test(arguments: ["", "image", "*/jpeg", "image/*x", "im*/x", "/*", "a/b;c=d"])
    func `what is no pattern is refused`(text: String) { #expect(MIMEPattern(text) == nil) }

    @Test(arguments: [("*/*", "*/*"), ("IMAGE/*", "image/*"), ("Video/MP4", "video/mp4")])
    func `a pattern is shown as it is written in a configuration`(text: String, shown: String) {
        #expect(MIMEPattern(text)?.description == shown)
    }

    @Test func `vague types say so`() {
        #expect(MIMEType.octetStream.isVague && MIMEType.plainText.isVague)
        #expect(MIMEType("application/x-zip-compressed").canonical.isVague)
        #expect(!MIMEType("image/jpeg").isVague)
    }
}
