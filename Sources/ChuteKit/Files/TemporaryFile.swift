import ChuteSystem

/// A place for one file that is not needed for long: a folder of its own, and a name in it.
///
/// The file itself is not made. Whoever makes the value removes it with `deleteDirectory()`, or
/// uses `withTemporaryFile(named:in:_:)`, which always does. What a process that died left behind
/// is removed when an engine starts; do not rely on it after this process.
public struct TemporaryFile: Hashable, Sendable {
    /// The folder, mode 0700, that nothing else uses.
    public let directory: BytePath
    /// The path of the file in it.
    public let file: BytePath

    /// Makes a folder for a file named `name`.
    ///
    /// It lies in `folder`, by default `$TMPDIR` where that is an absolute path, else `/tmp`.
    /// Paths are bytes here, as everywhere in this library: a `BytePath` stands where other systems
    /// have a URL.
    ///
    /// Throws `invalid` for a name that is none (empty, `.`, `..`, with a slash or NUL, over 255
    /// bytes), and `file` where the folder cannot be made. Anybody may call it. Blocks for a
    /// system call. Nothing is durable.
    public init(
        creatingTempDirectoryForFilename name: BytePath, in folder: BytePath? = nil
    ) throws {
        let name = try FileName.checked(name)
        directory = try urlForUniqueTemporaryDirectory(in: folder)
        file = directory.appending(name)
    }

    /// Removes the folder and all in it; where it is gone already, nothing happens. Follows no
    /// link.
    ///
    /// Throws `file` where something in it cannot be removed: the next start of an engine tries
    /// again. Anybody may call it, and again. Blocks until all is removed. Nothing is durable.
    public func deleteDirectory() throws {
        do throws(SystemError) {
            try Folder(at: directory.parent).removeTree(directory.lastComponent)
        } catch {
            if error.isNotFound { return }
            throw ChuteError(
                .file, "the temporary folder \(directory) cannot be removed", cause: error)
        }
    }
}

/// Calls `body` with a temporary file of this name, and removes its folder afterwards: also when
/// `body` throws and when the task is cancelled.
///
/// `folder` is as for `TemporaryFile`. Throws what `body` throws (what could not be removed then is
/// left to the next start of an engine), `invalid` for a name that is none, and `file` where the
/// folder cannot be made, or not be removed after `body` returned. Anybody may call it. Making and
/// removing block.
public func withTemporaryFile<Result>(
    named name: BytePath, in folder: BytePath? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TemporaryFile) async throws -> Result
) async throws -> Result {
    let temporary = try TemporaryFile(creatingTempDirectoryForFilename: name, in: folder)
    let result: Result
    do {
        result = try await body(temporary)
    } catch let failure {
        // What `body` says matters more than that its folder stays until the next start.
        do { try temporary.deleteDirectory() } catch { throw failure }
        throw failure
    }
    try temporary.deleteDirectory()
    return result
}
