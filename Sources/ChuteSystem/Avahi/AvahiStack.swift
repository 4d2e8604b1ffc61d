import CAvahi

/// The calls that the daemon's client and the core have in common.
///
/// What is made belongs to the stack and goes with it. All on one thread.
protocol AvahiStack: AnyObject {
    func makeGroup() throws(AvahiError) -> OpaquePointer
    func state(of group: OpaquePointer) -> Int32
    func commit(_ group: OpaquePointer) throws(AvahiError)
    func free(group: OpaquePointer)

    /// Adds a service to a group, on one interface or all (-1).
    func add(
        _ announcement: ServiceAnnouncement, type: String, on interface: AvahiIfIndex,
        to group: OpaquePointer
    ) throws(AvahiError)

    /// Adds an address of the announcement's own host name to a group.
    func add(
        _ address: AvahiAddress, of host: String, on interface: AvahiIfIndex,
        to group: OpaquePointer
    ) throws(AvahiError)

    func browse(type: String) throws(AvahiError)

    func resolve(_ place: AvahiNotes.Place, type: String) throws(AvahiError) -> OpaquePointer
    func free(resolver: OpaquePointer)
}

extension AvahiPublishFlags {
    /// No mark of this host among the strings: it would tell one service of it by another.
    static let service = AVAHI_PUBLISH_NO_COOKIE

    /// The random name needs no probing, and the address goes on standing for the host's own name.
    static let address = AvahiPublishFlags(
        rawValue: AVAHI_PUBLISH_NO_PROBE.rawValue | AVAHI_PUBLISH_NO_REVERSE.rawValue)
}

let anyInterface = AvahiIfIndex(AVAHI_IF_UNSPEC)
let anyFamily = AvahiProtocol(AVAHI_PROTO_UNSPEC)
