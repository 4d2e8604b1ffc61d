import ChuteSystem
import Glibc

/// Reads of one open file at any place, with a limit on their sum.
///
/// The file may be changed by others while it is read, and its own words lead from place to
/// place: no offset or length from it traps or reads without end. Past the limit, and past the
/// end of the file, reads come back short. Not `Sendable`; blocks.
final class BoundedFile {
    /// The size that the caller saw; nothing past it is read.
    let size: UInt64
    /// The first bytes of the file.
    let head: Excerpt

    private let file: FileDescriptor
    private var budget: Int
    /// What a read costs at least, so that many tiny reads end too.
    private static let leastCost = 256

    /// Keeps a duplicate of `file`'s descriptor and reads its first `headLength` bytes.
    ///
    /// Calls `fcntl(F_DUPFD_CLOEXEC)`; the offset of `file` is not moved.
    init(
        _ file: borrowing FileDescriptor, size: UInt64, headLength: Int, budget: Int
    ) throws(SystemError) {
        let number = file.raw
        let duplicate = try retrying("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) }
        self.file = FileDescriptor(owning: duplicate)
        self.size = min(size, UInt64(Int64.max))
        self.budget = budget
        let length = min(headLength, Int(clamping: self.size))
        head = Excerpt(try self.file.read(count: length, at: 0))
    }

    /// Up to `count` bytes at `offset`.
    func read(at offset: UInt64, count: Int) throws(SystemError) -> Excerpt {
        guard offset < size, count > 0 else { return Excerpt([]) }
        let length = min(count, Int(clamping: size - offset))
        if let start = Int(exactly: offset), start <= head.count, head.count - start >= length {
            return Excerpt(Array(head.slice(at: start, count: length)))
        }
        let cost = max(length, Self.leastCost)
        guard cost <= budget else {
            budget = 0
            return Excerpt([])
        }
        budget -= cost
        return Excerpt(try file.read(count: length, at: offset))
    }

    /// The last `count` bytes, or all there are.
    func tail(count: Int) throws(SystemError) -> Excerpt {
        try read(at: size - min(size, UInt64(clamping: count)), count: count)
    }

    /// Whether reads came back short because the limit was reached.
    var isExhausted: Bool { budget == 0 }
}
