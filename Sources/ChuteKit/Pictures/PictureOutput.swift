import ChuteSystem

/// A file that is written without a name, and gets it when it is whole.
///
/// What is not published goes with the value. Where the file system has no files without names,
/// it has a hidden one meanwhile, which a crash may leave. All of it blocks.
struct PictureOutput: ~Copyable {
    let file: FileDescriptor
    private let folder: Folder
    private let name: BytePath
    private let temporary: BytePath?

    /// Throws `EEXIST` where `path` exists. `isHidden`: do as where there are no files without
    /// names.
    init(at path: BytePath, isHidden: Bool = false) throws(SystemError) {
        let folder = try Folder(at: path.parent.isEmpty ? "." : path.parent)
        let name = path.lastComponent
        guard try folder.status(of: name) == nil else {
            throw SystemError(code: 17, call: "openat", path: path)  // EEXIST
        }
        if !isHidden, let file = try folder.openUnnamed() {
            self.file = file
            temporary = nil
        } else {
            let hidden = BytePath(".\(TemporaryName.random())")
            file = try folder.open(hidden, FileDescriptor.readWriteCreate)
            temporary = hidden
        }
        self.folder = folder
        self.name = name
    }

    /// Gives the file its name; durable when it returns. Throws `EEXIST` where the name was taken
    /// meanwhile.
    func publish() throws(SystemError) {
        try file.sync()
        if let temporary {
            try folder.renameExclusively(temporary, to: name, in: folder)
        } else {
            try folder.link(file, to: name)
        }
        try folder.sync()
    }

    deinit {
        // Published: there is none. Not to be removed: then the folder cannot be written either,
        // which whoever asked has been told.
        if let temporary { _ = try? folder.remove(temporary) }
    }
}
