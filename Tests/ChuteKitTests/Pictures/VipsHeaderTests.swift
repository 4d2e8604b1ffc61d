import Testing

@testable import ChuteKit

struct VipsHeaderTests {
    private static func header(_ text: String) -> VipsHeader? { VipsHeader(Array(text.utf8)) }

    @Test func `size and pages are read`() throws {
        let header = try #require(
            Self.header("x: 3x4 uchar, 3 bands, srgb\nwidth: 3\nheight: 4\nn-pages: 5\n"))
        #expect(header.width == 3)
        #expect(header.height == 4)
        #expect(header.pageCount == 5)
        #expect(header.pixelCount == 60)
        #expect(Self.header("width: 3\nheight: 4")?.pixelCount == 12)
    }

    @Test func `a text in the picture cannot make it smaller`() throws {
        let header = try #require(
            Self.header(
                "width: 300\nheight: 400\ncomment: a\nwidth: 1\nn-pages: 1\nn-pages: 50\nn-pages: 2"
            ))
        #expect(header.pixelCount == 300 * 400 * 50)
    }

    @Test(arguments: [
        "", "width: 3", "height: 3", "width: x\nheight: 3", "width: 0\nheight: 3",
        "width: -1\nheight: 3", "width: 99999999999999999999\nheight: 1", ":", "\n\n",
    ])
    func `what has no size is no header`(text: String) {
        #expect(Self.header(text) == nil)
    }

    @Test func `sizes that no number holds are more than any limit`() {
        let most = Int.max
        #expect(Self.header("width: \(most)\nheight: \(most)")?.pixelCount == most)
        #expect(Self.header("width: 2\nheight: 1\nn-pages: \(most)")?.pixelCount == most)
        #expect(Self.header("width: 2\nheight: 1\nn-pages: -5")?.pixelCount == 2)
    }
}
