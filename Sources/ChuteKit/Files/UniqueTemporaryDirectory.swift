import ChuteSystem

/// Makes a new folder (mode 0700) for files that are not needed for long; its path.
///
/// It is named `preferredName`, or `preferredName-1`, `-2` and so on where that exists; without
/// one, by a name that nobody else has, and then it is removed at the next start of an engine
/// should this process end without doing so. A folder of a preferred name is its maker's to remove.
///
/// It lies in `folder`, by default `$TMPDIR` where that is an absolute path, else `/tmp`. Nothing
/// above it is made. Paths are bytes here, as everywhere in this library: a `BytePath` stands where
/// other systems have a URL.
///
/// Throws `invalid` for a name that is none, and `file` where the folder cannot be made or 1000
/// names are taken. Anybody may call it. Blocks for one system call per name. Nothing is durable.
public func urlForUniqueTemporaryDirectory(
    preferredName: BytePath? = nil, in folder: BytePath? = nil
) throws -> BytePath {
    let parent = folder ?? TemporaryName.defaultFolder
    let base = try preferredName.map { try FileName.checked($0) } ?? TemporaryName.random()
    for counter in 0..<TemporaryName.attemptLimit {
        let name =
            counter == 0 ? base : BytePath(bytes: base.bytes + Array("-\(counter)".utf8))
        do throws(SystemError) {
            if try Folder(at: parent).makeFolder(name, mode: 0o700) {
                return parent.appending(name)
            }
        } catch {
            throw ChuteError(
                .file,
                "no temporary folder can be made in \(parent): look whether it exists, may be "
                    + "written and has space, or set TMPDIR", cause: error)
        }
    }
    throw ChuteError(
        .file,
        "\(parent.appending(base)) and \(TemporaryName.attemptLimit - 1) names like it are "
            + "taken: remove old ones")
}

/// The names of temporary folders.
enum TemporaryName {
    static let attemptLimit = 1000
    private static let prefix = "chute-tmp-"

    /// `$TMPDIR` where that is an absolute path, else `/tmp`.
    static var defaultFolder: BytePath {
        guard let set = ProcessEnvironment.current["TMPDIR"], set.isAbsolute else { return "/tmp" }
        return set
    }

    /// A name that nobody else has: marked with this process, if the system tells which it is.
    static func random() -> BytePath {
        let random = SecretBytes.random(count: 16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        return BytePath(prefix + (ProcessMark.own.map { "\($0)-" } ?? "") + random)
    }

    /// Whose a name is, if it is one that `random` makes.
    static func owner(of name: BytePath) -> ProcessMark? {
        guard let text = name.string, text.hasPrefix(prefix),
            let end = text.lastIndex(of: "-"), text[end...].utf8.count == 33
        else { return nil }
        let start = text.index(text.startIndex, offsetBy: prefix.count)
        guard start < end else { return nil }
        return ProcessMark(String(text[start..<end]))
    }
}
