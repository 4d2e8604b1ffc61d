import ChuteSystem
import DropFolder
import Testing

struct ConfigurationWriterTests {
    private let home: Home

    init() throws {
        home = try Home.locate(
            "/srv/chute-test", environment: ProcessEnvironment(["HOME": "/home/user"]),
            currentFolder: "/")
    }

    private func read(_ text: [UInt8]) throws -> Configuration {
        try ConfigurationReader.read(
            text, file: home.configurationFile, userFolder: home.userFolder)
    }

    private var standard: Configuration {
        var configuration = Configuration()
        configuration.folders = [
            FolderSettings(
                collection: "pics", inbox: "/home/user/Pics/inbox",
                outbox: "/home/user/Pics/outbox")
        ]
        return configuration
    }

    @Test func `the annotated configuration means the defaults`() throws {
        #expect(try read(annotatedConfiguration) == standard)
    }

    @Test func `what the annotated configuration shows as defaults are the defaults`() throws {
        let lines = String(decoding: annotatedConfiguration, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { line -> Substring in
                // Names and addresses are examples: these have no fixed default.
                let isExample = ["# name", "# shared_key", "# listen"].contains {
                    line.hasPrefix($0)
                }
                let isSetting =
                    line.hasPrefix("# ") && line.contains(" = ") && !isExample
                    && line.dropFirst(2).first != " "
                    && line.dropFirst(2).prefix { $0 != " " }.allSatisfy {
                        $0.isLowercase || $0 == "_"
                    }
                return isSetting ? line.dropFirst(2) : line
            }
        #expect(
            lines.filter { $0.hasPrefix("ignore = ") || $0.hasPrefix("min_free = ") }.count == 2)
        #expect(try read(Array(lines.joined(separator: "\n").utf8)) == standard)
    }

    @Test func `given values are put in and the comments stay`() throws {
        var values = ConfigurationWriter.Values()
        values.name = "la\"p\\top"
        values.inbox = "/data/über \"quoted\"\n\\in#box"
        values.layout = "{path}"
        values.listen = ""
        values.connect = ["pi:1", "[::1]:2"]
        values.sharedKey = "/k"
        let text = try ConfigurationWriter.text(values, home: home)
        let configuration = try read(text)
        #expect(configuration.device.name == "la\"p\\top")
        #expect(configuration.device.sharedKey == "/k")
        #expect(configuration.folders.first?.inbox == "/data/über \"quoted\"\n\\in#box")
        #expect(configuration.folders.first?.outbox == "/srv/chute-test/outbox")
        #expect(configuration.folders.first?.layout.description == "{path}")
        #expect(configuration.tcp.listen == .off)
        #expect(configuration.tcp.connect.count == 2)
        let comments = { (text: [UInt8]) in
            String(decoding: text, as: UTF8.self).split(separator: "\n")
                .filter { $0.hasPrefix("# ") && !$0.contains(" = ") }
        }
        #expect(comments(text) == comments(annotatedConfiguration))
    }

    @Test func `a path that is not UTF-8 is refused`() {
        var values = ConfigurationWriter.Values()
        values.outbox = BytePath(bytes: [0x2F, 0xFF])
        #expect(throws: ConfigurationWriter.NotText.self) {
            try ConfigurationWriter.text(values, home: home)
        }
    }

    @Test func `the effective configuration reads back as itself`() throws {
        var configuration = standard
        configuration.device.name = "a"
        configuration.folders[0].maxSize = 1 << 20
        configuration.folders[0].maxTotal = 12_345
        configuration.folders[0].afterIngest = .move(to: "/done")
        configuration.folders[0].fileMode = 0o640
        configuration.tcp.listen = .at(SocketAddress(host: "::", port: 1))
        configuration.store.retention = .atMost(.seconds(90))
        let text = ConfigurationWriter.effective(configuration)
        #expect(try read(Array(text.utf8)) == configuration)
    }
}
