import ChuteSystem
import Glibc
import TestSupport
import Testing

/// The agent as a service of a user, where systemd runs: in a container that is booted for it.
@Suite(.timeLimit(.minutes(5)))
struct ServiceTests {
    private static let canBoot =
        TestUser.isRoot && access("/usr/bin/systemd-nspawn", X_OK) == 0

    @Test(.enabled(if: canBoot, "needs root and systemd-nspawn"))
    func `a service that is killed starts again and a photo arrives`() async throws {
        var random = SeededGenerator(seed: 10)
        let photo = SampleFiles.photo(1_000_000, using: &random)
        var root = BytePath(#filePath)
        for _ in 0..<4 { root = root.parent }
        try await withTemporaryDirectory { folder in
            _ = folder.withCString { chmod($0, 0o755) }
            try SampleFiles.write(photo, to: folder.appending("photo.jpg"))
            try SampleFiles.write(Array(Self.job.utf8), to: folder.appending("job.sh"))
            try copyProgram(to: folder.appending("chute"))
            let run = try await RunningProgram(
                root.appending("scripts/systemd-container"), [folder]
            ).finished()
            let log = try? FileDescriptor.open(folder.appending("job.log"), O_RDONLY)
                .read(count: 1 << 20, at: 0)
            #expect(
                run.exitCode == 0, "\(run.error)\(String(decoding: log ?? [], as: UTF8.self))")
        }
    }

    /// Closed when this returns: a program that is open for writing cannot be run.
    private func copyProgram(to path: BytePath) throws {
        let copy = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o755)
        try copy.copyContents(
            of: FileDescriptor.open(RunningProgram.chute, FileDescriptor.readOnly))
    }

    /// Runs in the container: a user with the service, and root with a peer of it.
    private static let job = """
        set -eux
        await() { for _ in $(seq 300); do "$@" && return; sleep 0.1; done; return 1; }
        useradd -m ann
        loginctl enable-linger ann
        number=$(id -u ann)
        await test -S /run/user/$number/systemd/private
        as_ann() {
            (cd /home/ann && setpriv --reuid=ann --regid=ann --init-groups env -i HOME=/home/ann \\
                PATH=/usr/bin:/bin XDG_RUNTIME_DIR=/run/user/$number "$@")
        }
        property() { as_ann systemctl --user show -p "$1" --value chute.service; }

        as_ann /job/chute init --listen 127.0.0.1:4040 --shared-key /home/ann/space.key
        as_ann /job/chute service install
        test "$(property ActiveState)" = active
        test "$(property StatusText)" != ""

        first=$(property MainPID)
        kill -9 "$first"
        is_restarted() { test "$(property NRestarts)" = 1 && test "$(property ActiveState)" = active; }
        await is_restarted
        test "$(property MainPID)" != "$first"

        mkdir /root/peer
        cp /home/ann/space.key /root/space.key
        peer() { /job/chute --home /root/peer "$@"; }
        peer init --name peer --listen 127.0.0.1:4041 --connect 127.0.0.1:4040 \\
            --shared-key /root/space.key
        /job/chute --home /root/peer run &
        cp /job/photo.jpg /root/peer/inbox/
        await cmp /job/photo.jpg /home/ann/Pics/outbox/peer/photo.jpg

        as_ann /job/chute service status
        as_ann /job/chute service remove
        test ! -e /home/ann/.config/systemd/user/chute.service
        kill %1
        wait %1
        """
}
