import DropFolder
import Testing

struct QuantityTests {
    @Test(
        arguments: [
            ("4 GiB", 4 << 30), ("10 MB", 10_000_000), ("1.5 kb", 1500), ("4096", 4096), ("0", 0),
            ("1 TiB", 1 << 40), ("  7 B ", 7), ("1_000", 1000), ("0.5 MiB", 512 << 10),
            ("3k", 3000),
            ("8388607 TiB", 8_388_607 << 40),
        ] as [(String, UInt64)])
    func `a size is read as a person writes it`(text: String, count: UInt64) {
        #expect(ByteCount.parse(text) == count)
    }

    @Test(arguments: [
        "", "GiB", "-1", "4 gob", "1.2.3 MB", "1 .5", "99999999 TiB", "99999999999999999999",
        "1. MB", "4 GiB!", "٤ MB", "0.0000000001 GB",
    ])
    func `what is no size is refused`(text: String) {
        #expect(ByteCount.parse(text) == nil)
    }

    @Test(
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 KB"), (1949, "1.9 KB"),
            (9_960, "10 KB"), (999_499, "999 KB"), (999_500, "1.0 MB"), (84_000_000_000, "84 GB"),
            (UInt64.max, "18 EB"),
        ] as [(UInt64, String)])
    func `a size is shown short`(count: UInt64, text: String) {
        #expect(ByteCount.text(count) == text)
    }

    @Test(
        arguments: [
            ("15 min", .seconds(900)), ("60 s", .seconds(60)), ("30 days", .seconds(2_592_000)),
            ("1.5 h", .seconds(5400)), ("250 ms", .milliseconds(250)), ("0", .zero),
            ("2 weeks", .seconds(1_209_600)), ("1 Day", .seconds(86_400)),
        ] as [(String, Duration)])
    func `a duration is read as a person writes it`(text: String, span: Duration) {
        #expect(TimeSpan.parse(text) == span)
        #expect(TimeSpan.parse(TimeSpan.text(span)) == span)
    }

    @Test(arguments: ["", "15", "min", "-3 s", "3 fortnights", "1000 years", "9999999999 days"])
    func `what is no duration is refused`(text: String) {
        #expect(TimeSpan.parse(text) == nil)
    }
}
