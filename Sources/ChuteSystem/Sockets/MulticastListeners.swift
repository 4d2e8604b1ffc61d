import Glibc

/// Who has sockets at the port of multicast DNS, as the kernel tells everybody (proc(5)).
package enum MulticastListeners {
    /// The names of the users that have such sockets, each once, in their order; empty where the
    /// kernel does not say. Blocks. Calls `getpwuid`.
    package static func users() -> [String] {
        var numbers: Set<UInt32> = []
        for file in ["/proc/net/udp", "/proc/net/udp6"] as [BytePath] {
            numbers.formUnion(users(in: text(of: file)))
        }
        return numbers.map { number in
            getpwuid(number).map { String(cString: $0.pointee.pw_name) } ?? "\(number)"
        }.sorted()
    }

    /// The owners of the sockets at port 5353 in such a table.
    static func users(in table: String) -> Set<UInt32> {
        var users: Set<UInt32> = []
        for line in table.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ")
            guard columns.count > 7, columns[1].hasSuffix(":14E9"), let user = UInt32(columns[7])
            else { continue }
            users.insert(user)
        }
        return users
    }

    private static let greatestLength = 1 << 20

    private static func text(of path: BytePath) -> String {
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
            var bytes: [UInt8] = []
            while bytes.count < greatestLength {
                let more = try file.read(count: 64 << 10, at: UInt64(bytes.count))
                if more.isEmpty { break }
                bytes += more
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return ""  // nothing is said of it
        }
    }
}
