package import ChuteSystem

/// What stands behind the last dot of a name, in lower case; empty where there is none.
///
/// Only ever settles what the bytes leave open.
package struct FileExtension: Hashable, Sendable {
    package let text: String

    package init(of name: BytePath) {
        let bytes = name.lastComponent.bytes
        var text = ""
        if let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0, bytes.count - dot <= 16 {
            for byte in bytes[(dot + 1)...] {
                let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                text.unicodeScalars.append(Unicode.Scalar(isUpper ? byte | 0x20 : byte))
            }
        }
        self.text = text
    }
}
