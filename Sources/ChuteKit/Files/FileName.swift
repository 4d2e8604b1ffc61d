import ChuteSystem

/// What a file in a folder can be named.
enum FileName {
    /// The name, where it can be one of a file in a folder. Throws `invalid`.
    static func checked(_ name: BytePath) throws -> BytePath {
        let fault: String? =
            if name.isEmpty {
                "it is empty"
            } else if name == "." || name == ".." {
                "that is a folder of its own"
            } else if name.bytes.contains(BytePath.separator) {
                "it holds a slash: give a name, not a path"
            } else if name.bytes.contains(0) {
                "it holds a NUL"
            } else if name.bytes.count > 255 {
                "it has \(name.bytes.count) bytes, and a file system takes 255"
            } else {
                nil
            }
        if let fault { throw ChuteError(.invalid, "\"\(name)\" is no file name: \(fault)") }
        return name
    }
}
