/// Names the bytes of a file: only both together are an identity.
package struct InboxContent: Hashable, Sendable {
    package let digest: [UInt8]
    package let byteCount: UInt64

    package init(digest: [UInt8], byteCount: UInt64) {
        self.digest = digest
        self.byteCount = byteCount
    }
}
