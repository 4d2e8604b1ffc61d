import ChuteSystem
import DropFolder
import TestSupport
import Testing

struct HomeTests {
    @Test func `a given folder holds everything`() throws {
        let home = try Home.locate(
            "here/./agent/", environment: ProcessEnvironment(["HOME": "/home/user"]),
            currentFolder: "/nowhere")
        #expect(home.folder == "/nowhere/here/agent")
        #expect(home.configurationFile == "/nowhere/here/agent/chute.toml")
        #expect(home.databaseFile == "/nowhere/here/agent/state/chute.db")
        #expect(home.keyFile == "/nowhere/here/agent/state/device.key")
        #expect(home.lockFile == "/nowhere/here/agent/state/chute.lock")
        #expect(home.runtimeFolder == home.stateFolder)
        #expect(home.standardInbox == "inbox")
    }

    @Test func `CHUTE_HOME is taken where no folder is given`() throws {
        let environment = ProcessEnvironment(["HOME": "/h", "CHUTE_HOME": "/a"])
        #expect(try Home.locate(nil, environment: environment, currentFolder: "/").folder == "/a")
        #expect(try Home.locate("/b", environment: environment, currentFolder: "/").folder == "/b")
    }

    @Test func `without a given folder the XDG folders hold it`() throws {
        let home = try Home.locate(
            nil,
            environment: ProcessEnvironment([
                "HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d",
                "XDG_RUNTIME_DIR": "/r",
            ]), currentFolder: "/")
        #expect(home.configurationFile == "/c/chute/chute.toml")
        #expect(home.stateFolder == "/d/chute")
        #expect(home.runtimeFolder == "/r/chute")
        #expect(home.standardOutbox == "~/Pics/outbox")
    }

    @Test func `relative and empty XDG folders are ignored`() throws {
        let home = try Home.locate(
            nil,
            environment: ProcessEnvironment([
                "HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "", "XDG_RUNTIME_DIR": ".",
            ]), currentFolder: "/")
        #expect(home.configurationFile == "/h/.config/chute/chute.toml")
        #expect(home.stateFolder == "/h/.local/share/chute")
        #expect(home.runtimeFolder == "/h/.local/share/chute")
    }

    @Test func `two homes have two runtime folders, one home by two names has one`() async throws {
        try await withTemporaryDirectory { folder in
            let parent = try Folder(at: folder)
            try parent.makeFolder("a")
            try parent.makeFolder("b")
            let link = folder.appending("link")
            try link.makeSymbolicLink(to: folder.appending("a"))
            let environment = ProcessEnvironment(["HOME": "/h", "XDG_RUNTIME_DIR": "/r"])
            let runtime = { (path: BytePath) in
                try Home.locate(path, environment: environment, currentFolder: "/").runtimeFolder
            }
            let first = try runtime(folder.appending("a"))
            #expect(first.parent == "/r/chute")
            #expect(try runtime(link) == first)
            #expect(try runtime(folder.appending("b")) != first)
        }
    }
}
