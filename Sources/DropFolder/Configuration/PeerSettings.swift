package import ChuteKit

/// One `[[peer]]`: narrower rules for one device.
package struct PeerSettings: Hashable, Sendable {
    package let id: DeviceID
    /// The transports by which it is connected; `nil` for all.
    package var transports: [TransportName]?
    package var limits = RateLimits()
    /// Which types are taken of it; `nil` for those of the folder. Both have to allow a file.
    package var accept: [MIMEPattern]?
    /// In bytes; `nil` for that of the folder.
    package var maxSize: UInt64?
    /// What all of its files may take in one outbox, in bytes; `nil` without limit.
    package var maxTotal: UInt64?

    package init(id: DeviceID) { self.id = id }
}
