import ChuteSystem
import DropFolder
import Testing

struct ConfigurationReaderTests {
    private func read(_ text: String) throws(ConfigurationError) -> Configuration {
        try ConfigurationReader.read(
            Array(text.utf8), file: "/etc/chute/chute.toml", userFolder: "/home/user")
    }

    private func problems(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try read(text)
            return []
        } catch {
            return error.problems.map { $0.description(in: error.file) }
        }
    }

    @Test func `all keys are read`() throws {
        let configuration = try read(
            """
            device = { name = "studio", shared_key = "space.key" }
            [[folder]]
            collection = "raw"
            inbox = "~/in"
            outbox = "$HOME/out"
            accept = ["image/*", "Video/MP4"]
            ignore = ["*.bak"]
            max_size = "4 GiB"
            min_free = 0
            max_total = 5000
            after_ingest = "move"
            after_ingest_folder = "../done"
            layout = "{collection}/{year}-{month}/{name}"
            on_retract = "trash"
            file_mode = "0640"
            folder_mode = "2770"
            [transports.tcp]
            listen = "[::1]:0"
            connect = ["pi.local:4040", "[fe80::1%eth0]:1"]
            [store]
            retention = "30 days"
            """)
        #expect(configuration.device.name == "studio")
        #expect(configuration.device.sharedKey == "/etc/chute/space.key")
        let folder = try #require(configuration.folders.first)
        #expect(folder.collection == "raw")
        #expect(folder.inbox == "/home/user/in")
        #expect(folder.outbox == "/home/user/out")
        #expect(folder.accept.map(\.description) == ["image/*", "video/mp4"])
        #expect(folder.ignore == ["*.bak"])
        #expect(folder.maxSize == 4 << 30)
        #expect(folder.minFree == 0)
        #expect(folder.maxTotal == 5000)
        #expect(folder.afterIngest == .move(to: "/etc/chute/../done"))
        #expect(folder.layout.description == "{collection}/{year}-{month}/{name}")
        #expect(folder.onRetract == .trash)
        #expect(folder.fileMode == 0o640)
        #expect(folder.folderMode == 0o2770)
        #expect(configuration.tcp.listen == .at(SocketAddress(host: "::1", port: 0)))
        #expect(
            configuration.tcp.connect.map(\.description) == ["pi.local:4040", "[fe80::1%eth0]:1"])
        #expect(configuration.store.retention == .atMost(.seconds(30 * 86_400)))
        #expect(configuration.notices.isEmpty)
    }

    @Test func `all problems are said at once with line and column`() {
        let found = problems(
            """
            [devise]
            [[folder]]
            inbox = 3
            max_size = "4 gob"
            layout = "{pear}/{path}"
              accept = ["image/*", "image"]
            [transports.tcp]
            conect = []
            """)
        #expect(
            found == [
                "/etc/chute/chute.toml:1:2: devise is an unknown section, did you mean device?",
                "/etc/chute/chute.toml:3:9: inbox is a whole number, expected a string in quotes",
                "/etc/chute/chute.toml:4:12: \"4 gob\" is no size, expected \"500 MB\", "
                    + "\"4 GiB\" or bytes",
                "/etc/chute/chute.toml:5:10: {pear} is unknown, expected one of {peer} {path} "
                    + "{name} {type} {year} {month} {day} {collection}",
                "/etc/chute/chute.toml:6:24: \"image\" is no type, expected \"image/jpeg\", "
                    + "\"image/*\" or \"*/*\"",
                "/etc/chute/chute.toml:8:1: conect is an unknown key of [transports.tcp], did you "
                    + "mean connect?",
            ])
    }

    @Test(arguments: [
        ("a = ", 1), ("[device]\nname = \"x\nb", 2), ("\u{0}", 1), ("[a]\n[a]", 2),
        ("a = 1\na = 2", 2), ("x = [", 1),
    ])
    func `what is not TOML is said with its line`(text: String, line: Int) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(error?.problems.first?.position.line == line)
        #expect(error?.problems.first?.message.isEmpty == false)
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: ConfigurationError.self) {
            try ConfigurationReader.read(
                Array("name = \"a".utf8) + [0xFF, 0x22], file: "/c", userFolder: nil)
        }
    }

    @Test(arguments: [
        "[device]\nname = \"\"", "[device]\nname = \"a\\u0007\"", "[device]\nname = \" a\"",
        "[device]\nname = 3", "device = 3", "[folder]\ninbox = \"a\"", "[[folder]]\n",
        "[[folder]]\ninbox = \"\"", "[[folder]]\ninbox = \"~other/x\"",
        "[[folder]]\ninbox = \"$DATA/x\"", "[[folder]]\ninbox = \"a\\u0000b\"",
        "[[folder]]\ninbox = \"a\"\noutbox = \"a\"", "[[folder]]\ninbox = \"a\"\noutbox = \"a/b\"",
        "[[folder]]\ninbox = \"a\"\n[[folder]]\ninbox = \"b\"",
        "[[folder]]\ninbox = \"a\"\ncollection = \"_members\"",
        "[[folder]]\ninbox = \"a\"\ncollection = \"a/b\"",
        "[[folder]]\ninbox = \"a\"\nfile_mode = \"755\"",
        "[[folder]]\ninbox = \"a\"\nfile_mode = \"9\"",
        "[[folder]]\ninbox = \"a\"\nfile_mode = 420",
        "[[folder]]\ninbox = \"a\"\nafter_ingest = \"move\"",
        "[[folder]]\ninbox = \"a\"\nafter_ingest = \"burn\"",
        "[[folder]]\ninbox = \"a\"\nafter_ingest = \"move\"\nafter_ingest_folder = \"a/b\"",
        "[[folder]]\ninbox = \"a/b\"\nafter_ingest = \"move\"\nafter_ingest_folder = \"a\"",
        "[[folder]]\ninbox = \"a\"\noutbox = \"b\"\nafter_ingest = \"move\"\n"
            + "after_ingest_folder = \"b/c\"",
        "[[folder]]\ninbox = \"a\"\nlayout = \"../{path}\"",
        "[[folder]]\ninbox = \"a\"\nlayout = \"/{path}\"",
        "[[folder]]\ninbox = \"a\"\nlayout = \"{path\"",
        "[[folder]]\ninbox = \"a\"\nlayout = \"x\"",
        "[[folder]]\ninbox = \"a\"\nlayout = \"{path}/{name}\"",
        "[[folder]]\ninbox = \"a\"\nlayout = \"{path}/\"",
        "[[folder]]\ninbox = \"a\"\nmax_size = -1", "[[folder]]\ninbox = \"a\"\naccept = \"*/*\"",
        "[transports.tcp]\nlisten = \"4040\"", "[transports.tcp]\nlisten = \"::1:4040\"",
        "[transports.tcp]\nconnect = [\"pi:0\"]", "[transports.tcp]\nconnect = [\"pi:70000\"]",
        "[transports.lan]\nmdsn = true", "[transports.pigeon]\n", "[store]\nretention = \"long\"",
        "[network]\nupload = 1\ndonwload = 2", "name = \"x\"",
    ])
    func `a wrong value is one problem`(text: String) {
        #expect(problems(text).count == 1)
    }

    @Test func `parts that are not built yet are known and noted`() throws {
        let configuration = try read(
            """
            [transports.lan]
            mdns = true
            [transports.bluetooth]
            power = 3
            [transports.tcp]
            retry_min = "1 s"
            [[peer]]
            id = "x"
            """)
        #expect(configuration.notices.map(\.position.line) == [1, 3, 6, 7])
        #expect(configuration.notices.allSatisfy { $0.message.contains("not built yet") })
    }

    @Test func `without a known home folder only paths that need one are wrong`() {
        #expect(throws: Never.self) {
            try ConfigurationReader.read(
                Array("[[folder]]\ninbox = \"in\"".utf8), file: "/c/t", userFolder: nil)
        }
        #expect(throws: ConfigurationError.self) {
            try ConfigurationReader.read(
                Array("[[folder]]\ninbox = \"~/in\"".utf8), file: "/c/t", userFolder: nil)
        }
    }
}
