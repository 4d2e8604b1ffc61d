import ChuteSystem
import DropFolder
import TestSupport
import Testing

@testable import chute

struct ServiceUnitTests {
    private func unit(_ folder: BytePath?, inbox: BytePath = "/data/in box") throws -> ServiceUnit {
        let environment = ProcessEnvironment(["HOME": "/home/u", "XDG_DATA_HOME": "/d"])
        var configuration = Configuration()
        configuration.folders = [FolderSettings(collection: "pics", inbox: inbox)]
        return ServiceUnit(
            executable: "/opt/100%/chute",
            home: try Home.locate(
                folder, environment: environment, currentFolder: "/"),
            configuration: configuration, environment: environment)
    }

    private func lines(_ unit: ServiceUnit) throws -> [Substring] {
        try unit.text().split(separator: "\n")
    }

    @Test func `the unit starts this program for this home`() throws {
        let lines = try lines(unit("/srv/a $b"))
        #expect(
            lines.contains("ExecStart=\"/opt/100%%/chute\" --home \"/srv/a $$b\" run"))
        #expect(lines.contains("ReadWritePaths=\"-/srv/a $b/state\""))
        #expect(lines.contains("ReadWritePaths=\"-/data/in box\""))
        for line in [
            "Type=notify", "Restart=on-failure", "RestartSec=5", "StartLimitIntervalSec=0",
            "RestartPreventExitStatus=64 78", "NoNewPrivileges=yes", "PrivateTmp=yes",
        ] {
            #expect(lines.contains(Substring(line)))
        }
    }

    @Test func `without a home the XDG folders of the user go along`() throws {
        let lines = try lines(unit(nil))
        #expect(lines.contains("ExecStart=\"/opt/100%%/chute\" run"))
        #expect(lines.contains("Environment=\"XDG_DATA_HOME=/d\""))
    }

    @Test func `a folder below tmp keeps the shared tmp`() throws {
        #expect(try !lines(unit(nil, inbox: "/tmp/in")).contains("PrivateTmp=yes"))
    }

    @Test(arguments: [BytePath("/a\nExecStartPre=/bin/evil"), BytePath(bytes: [0x2F, 0xFF])])
    func `a name that systemd cannot take is refused`(inbox: BytePath) throws {
        #expect(throws: CommandError.self) { try unit(nil, inbox: inbox).text() }
    }
}
