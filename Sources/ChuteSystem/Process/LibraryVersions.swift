import CMagic
import COpenSSL
import CSQLite
import CWebSockets

/// The versions of the libraries that this program was linked with, as they say them.
package enum LibraryVersions {
    /// By name, in the order of the names.
    package static var all: [(name: String, version: String)] {
        let magic = magic_version()
        let text = { (pointer: UnsafePointer<CChar>?) in pointer.map { String(cString: $0) } ?? "" }
        return [
            ("libmagic", "\(magic / 100).\(magic % 100)"),
            // The program's own version is followed by that of a source tree, if it was built in one.
            ("libwebsockets", String(text(lws_get_library_version()).prefix { $0 != "-" })),
            ("OpenSSL", text(OpenSSL_version(OPENSSL_VERSION_STRING))),
            ("SQLite", text(sqlite3_libversion())),
        ]
    }
}
