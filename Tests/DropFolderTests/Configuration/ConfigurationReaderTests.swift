import ChuteKit
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
        "[network]\nupload = \"1 MB/s\"\ndonwload = \"2 MB/s\"", "name = \"x\"",
        "[network]\nupload = 1", "[network]\nupload = \"10 MB\"",
        "[network]\nupload = \"999 B/s\"", "[network]\ntransports = [\"pigeon\"]",
        "[transports.lan]\nenabled = \"yes\"", "[transports.lan]\ninterfaces = [\"a/b\"]",
        "[transports.lan]\nservice_type = \"_chute._udp\"",
        "[transports.lan]\nservice_type = \"_a--b._tcp\"",
        "[transports.lan]\nservice_type = \"_sixteen-letters1._tcp\"",
        "[transports.tcp]\nretry_min = \"2 min\"", "[transports.tcp]\nretry_max = \"2 h\"",
        "[transports.tcp]\nretry_min = \"0 s\"", "[transports.tcp]\npublic = \"here\"",
        "[transports.tcp]\nmap_port = 4040",
        "[transports.websocket]\nconnect = [\"https://a/\"]",
        "[transports.websocket]\nconnect = [\"wss://a b/\"]",
        "[transports.websocket]\nconnect = [\"wss:///chute\"]",
        "[transports.websocket]\npath = \"chute\"", "[transports.websocket]\nlisten = \"80\"",
        "[transports.websocket]\ntls_key = \"k.pem\"",
        "[transports.websocket]\ntrusted_proxies = [\"10.0.0.0/33\"]",
        "[[peer]]\nupload = \"1 MB/s\"", "[[peer]]\nid = \"x\"",
    ])
    func `a wrong value is one problem`(text: String) {
        #expect(problems(text).count == 1)
    }

    @Test func `parts that are not built yet are known and noted`() throws {
        let configuration = try read(
            """
            [transports.bluetooth]
            power = 3
            [network]
            transports = ["tcp", "bucket"]
            """)
        #expect(configuration.notices.map(\.position.line) == [1, 4])
        #expect(configuration.notices.allSatisfy { $0.message.contains("not built yet") })
        #expect(configuration.network.transports == [.tcp, .bucket])
    }

    @Test func `the keys of the network are read`() throws {
        let id = try #require(DeviceID(String(repeating: "A", count: 52)))
        let configuration = try read(
            """
            [transports.lan]
            enabled = false
            mdns = false
            interfaces = ["eth0", "awdl0"]
            service_type = "_my-photos2._tcp"
            [transports.tcp]
            listen = "0.0.0.0:1"
            retry_min = "500 ms"
            retry_max = "5 min"
            public = "home.example.org:4040"
            map_port = false
            [transports.websocket]
            listen = "127.0.0.1:8080"
            path = "/a/b"
            connect = ["ws://pi:8080/chute", "wss://example.org"]
            tls_certificate = "c.pem"
            tls_key = "/k.pem"
            trusted_proxies = ["127.0.0.1", "fd00::/8"]
            [network]
            upload = "80 Mbit/s"
            download = "1.5 MB/s"
            limit_lan = true
            [[peer]]
            id = "\(id)"
            transports = ["lan"]
            upload = "0 B/s"
            accept = ["image/*"]
            max_size = 5
            max_total = "1 kB"
            """)
        var lan = LANSettings()
        (lan.isEnabled, lan.usesMDNS) = (false, false)
        (lan.interfaces, lan.serviceType) = (["eth0", "awdl0"], "_my-photos2._tcp")
        #expect(configuration.lan == lan)
        #expect(configuration.tcp.retryPauses == .milliseconds(500)...(.seconds(300)))
        #expect(configuration.tcp.publicAddress?.description == "home.example.org:4040")
        #expect(!configuration.tcp.mapsPort)
        #expect(configuration.webSocket.listen?.port == 8080)
        #expect(configuration.webSocket.path == "/a/b")
        #expect(configuration.webSocket.connect.count == 2)
        #expect(configuration.webSocket.tlsKey == "/k.pem")
        #expect(configuration.webSocket.trustedProxies.count == 2)
        #expect(configuration.network.limits.upload == 10_000_000)
        #expect(configuration.network.limits.download == 1_500_000)
        #expect(configuration.network.limitsLAN)
        var peer = PeerSettings(id: id)
        (peer.transports, peer.maxSize, peer.maxTotal) = ([.lan], 5, 1000)
        peer.accept = [try #require(MIMEPattern("image/*"))]
        #expect(configuration.peers == [peer])
        #expect(configuration.notices.isEmpty)
        let again = try read(ConfigurationWriter.effective(configuration))
        #expect(again.network == configuration.network && again.peers == configuration.peers)
        #expect(again.lan == lan && again.webSocket == configuration.webSocket)
        #expect(again.tcp == configuration.tcp)
    }

    @Test(arguments: ["", " \n\t\n", "# nothing but words\n"])
    func `an empty file counted as right`(_ text: String) {
        #expect(
            problems(text) == [
                "/etc/chute/chute.toml:1:1: chute.toml is empty, expected what `chute init` writes "
                    + "where there is no such file"
            ])
        #expect(problems("[device]\n").isEmpty)
    }

    @Test func `that there is no shared key can be said in words`() throws {
        let without = try read("[device]\nname = \"pi\"\n")
        #expect(without.device.sharedKey == nil && !without.device.isPairedOnPurpose)
        let onPurpose = try read("[device]\nname = \"pi\"\nshared_key = \"\"\n")
        #expect(onPurpose.device.sharedKey == nil && onPurpose.device.isPairedOnPurpose)
        #expect(try read(ConfigurationWriter.effective(onPurpose)).device == onPurpose.device)
    }

    @Test func `one peer has one block`() throws {
        let id = try #require(DeviceID(String(repeating: "A", count: 52)))
        let block = "[[peer]]\nid = \"\(id)\"\n"
        #expect(problems(block + block).count == 1)
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
