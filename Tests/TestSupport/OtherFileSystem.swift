package import ChuteSystem

/// A second file system that every user can write, beside the one of `/tmp`.
package enum OtherFileSystem {
    package static let folder: BytePath = "/dev/shm"

    /// Whether it is there, and another one.
    package static let isThere: Bool = {
        let devices = ["/tmp", folder].map {
            (try? FileStatus.of($0, followingLinks: true))?.device
        }
        return devices[1] != nil && devices[0] != devices[1]
    }()
}
