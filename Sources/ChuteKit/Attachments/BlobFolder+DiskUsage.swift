import ChuteSystem
import Glibc

extension BlobFolder {
    /// What the engine's directory takes on disk. Files that go meanwhile are not counted.
    func diskUsage() throws -> DiskUsage {
        var usage = DiskUsage()
        do throws(SystemError) {
            let directory = try Folder(at: path.parent)
            for entry in try directory.entries() where entry.name != Self.name {
                let bytes = try Self.allocated(entry.name, in: directory)
                switch entry.name.string {
                case Chute.databaseName: usage.database += bytes
                case Chute.databaseName + "-wal": usage.writeAheadLog += bytes
                default: usage.other += bytes
                }
            }
            for entry in try folder.entries() {
                let bytes = try Self.allocated(entry.name, in: folder)
                switch entry.name {
                case Self.staging: usage.staging += bytes
                case Self.damaged: usage.damaged += bytes
                default: usage.attachments += bytes
                }
            }
        } catch { throw ChuteError(error, "\(path.parent) cannot be read") }
        return usage
    }

    private static func allocated(
        _ name: BytePath, in folder: borrowing Folder
    ) throws(SystemError) -> UInt64 {
        guard let status = try folder.status(of: name) else { return 0 }
        guard status.kind == .directory else { return status.allocated }
        var sum = status.allocated
        do throws(SystemError) {
            let inner = try folder.folder(at: name)
            for entry in try inner.entries() { sum += try allocated(entry.name, in: inner) }
        } catch {
            guard error.isNotFound else { throw error }  // it went meanwhile
        }
        return sum
    }
}
