import CAvahi
import Glibc

/// What Avahi said in its callbacks, until its thread comes to it.
///
/// A callback only notes: Avahi's objects are made and freed between two turns of its loop, never
/// while it calls.
final class AvahiNotes {
    /// Where a service was heard of.
    struct Place: Hashable {
        let interface: AvahiIfIndex
        let family: AvahiProtocol
        /// As bytes: texts fold different spellings into one.
        let name: [CChar]

        /// The same service on the same interface, as each family tells of it.
        var inIPv4: Self { with(AvahiProtocol(AVAHI_PROTO_INET)) }
        var inIPv6: Self { with(AvahiProtocol(AVAHI_PROTO_INET6)) }

        private func with(_ family: AvahiProtocol) -> Self {
            Self(interface: interface, family: family, name: name)
        }
    }

    enum Note {
        case appeared(Place)
        case vanished(Place)
        case resolved(Place, ServiceSighting)
        case unresolved(Place)
        case browsingFailed
    }

    private(set) var notes: [Note] = []
    /// Whether something else may be different: a group, the daemon, the core.
    private var isStateStale = true

    func note(_ note: Note) { notes.append(note) }
    func noteState() { isStateStale = true }

    func take() -> [Note] {
        defer { notes = [] }
        return notes
    }

    /// Whether anything waits to be taken.
    var isAny: Bool { isStateStale || !notes.isEmpty }

    func takeState() -> Bool {
        defer { isStateStale = false }
        return isStateStale
    }

    /// For Avahi; valid while this object lives.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> AvahiNotes? {
        pointer.map { Unmanaged<AvahiNotes>.fromOpaque($0).takeUnretainedValue() }
    }

    static func place(
        _ interface: AvahiIfIndex, _ family: AvahiProtocol, _ name: UnsafePointer<CChar>?
    ) -> Place? {
        guard let name else { return nil }
        let bytes = UnsafeBufferPointer(start: name, count: strlen(name) + 1)
        return Place(interface: interface, family: family, name: Array(bytes))
    }

    func browsed(_ event: AvahiBrowserEvent, _ place: Place?) {
        switch (event, place) {
        case (AVAHI_BROWSER_NEW, let place?): note(.appeared(place))
        case (AVAHI_BROWSER_REMOVE, let place?): note(.vanished(place))
        case (AVAHI_BROWSER_FAILURE, _): note(.browsingFailed)
        default: break  // that there is no more for the moment
        }
    }

    func resolved(
        _ event: AvahiResolverEvent, _ place: Place?, host: UnsafePointer<CChar>?,
        _ address: UnsafePointer<AvahiAddress>?, port: UInt16,
        _ text: UnsafeMutablePointer<AvahiStringList>?
    ) {
        guard let place else { return }
        guard event == AVAHI_RESOLVER_FOUND, let address, port > 0,
            let interface = Self.interfaceName(place.interface),
            let number = Self.number(address.pointee, interface)
        else { return note(.unresolved(place)) }
        note(
            .resolved(
                place,
                ServiceSighting(
                    name: place.name.withUnsafeBufferPointer(Self.text), interface: interface,
                    address: SocketAddress(host: number, port: port),
                    host: host.map { String(cString: $0) } ?? "",
                    text: AvahiText.strings(text))))
    }

    /// Calls `if_indextoname`; `nil` where there is no such interface any more.
    static func interfaceName(_ index: AvahiIfIndex) -> String? {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard index > 0, if_indextoname(UInt32(index), &name) != nil else { return nil }
        return name.withUnsafeBufferPointer(text)
    }

    private static func text(_ characters: UnsafeBufferPointer<CChar>) -> String {
        characters.baseAddress.map { String(cString: $0) } ?? ""
    }

    private static func number(_ address: AvahiAddress, _ interface: String) -> String? {
        var (address, text) = (address, [CChar](repeating: 0, count: Int(AVAHI_ADDRESS_STR_MAX)))
        guard avahi_address_snprint(&text, text.count, &address) != nil else { return nil }
        let number = text.withUnsafeBufferPointer(Self.text)
        let isOfLink =
            address.proto == Int32(AVAHI_PROTO_INET6) && address.data.ipv6.address.0 == 0xFE
            && address.data.ipv6.address.1 & 0xC0 == 0x80
        return isOfLink ? "\(number)%\(interface)" : number
    }
}
