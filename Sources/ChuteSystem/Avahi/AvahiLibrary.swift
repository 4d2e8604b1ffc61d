import CAvahi
import Glibc

/// One of Avahi's libraries, opened in a scope of its own.
///
/// The client's library and the core's each define `avahi_entry_group_free`: linked together, one
/// would call that of the other.
struct AvahiLibrary {
    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Throws an error that `isMissingLibrary` where it is not installed. Calls `dlopen`.
    init(_ name: String) throws(AvahiError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw AvahiError(code: Int32(AVAHI_ERR_NOT_SUPPORTED), call: "dlopen \(name)")
        }
        self.handle = handle
        self.name = name
    }

    /// A function of it, by the type that its header gives. Calls `dlsym`.
    func function<Function>(_ symbol: String) throws(AvahiError) -> Function {
        guard let address = dlsym(handle, symbol) else {
            throw AvahiError(code: Int32(AVAHI_ERR_NOT_SUPPORTED), call: "dlsym \(name) \(symbol)")
        }
        return unsafeBitCast(address, to: Function.self)
    }
}
