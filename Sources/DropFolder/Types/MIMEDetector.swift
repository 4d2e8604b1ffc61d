package import ChuteSystem

/// Says what a file is, from its bytes; the name settles only what they leave open.
///
/// Own looks come first where libmagic is known to stop too early (brands of ISO media, camera
/// RAW, animated PNG, documents in ZIP, XML by its first element); libmagic says the rest. Both
/// read bounded amounts, whatever the file says of itself. Not `Sendable`: one per owner.
package final class MIMEDetector {
    private let magic: MagicDatabase?
    /// Why libmagic's rules could not be loaded, `nil` if they were.
    package let failure: MagicError?

    /// Whether libmagic is asked; without it fewer types are told apart.
    package var usesLibmagic: Bool { magic != nil }

    /// What the own looks get of the beginning.
    private static let headLength = 64 << 10
    /// What libmagic gets: a shorter beginning misnames JSON.
    private static let magicLength = 512 << 10
    private static let budget = 4 << 20

    /// Loads libmagic's rules; where that fails, `failure` says why and the own looks remain.
    package init(database path: BytePath? = nil) {
        do {
            magic = try MagicDatabase(path: path)
            failure = nil
        } catch {
            magic = nil
            failure = error
        }
    }

    /// The type of an open regular file, under the name that `MIMEAliases` prefers.
    ///
    /// Reads with `pread`: the descriptor's offset stays. Throws only where reading fails; a
    /// file that cannot be named is `application/octet-stream`. Blocks.
    package func type(
        of file: borrowing FileDescriptor, size: UInt64, name: BytePath
    ) throws(SystemError) -> MIMEType {
        guard size > 0 else { return .empty }
        let bounded = try BoundedFile(
            file, size: size, headLength: Self.headLength, budget: Self.budget)
        guard !bounded.head.isEmpty else { return .empty }
        let name = FileExtension(of: name)
        if let type = try ownLook(bounded, name) { return type.canonical }
        if NoiseLook.isNoise(bounded.head) { return .octetStream }
        let start = try bounded.read(at: 0, count: Self.magicLength)
        return refined(baseType(start), start, name).canonical
    }

    private func ownLook(_ file: BoundedFile, _ name: FileExtension) throws(SystemError)
        -> MIMEType?
    {
        if let type = try JPEGType.type(of: file) { return type }
        if let type = try PNGType.type(of: file) { return type }
        if let type = try ISOMediaType.type(of: file) { return type }
        if let type = try TIFFType.type(of: file, name: name) { return type }
        if let type = try ZIPType.type(of: file, name: name) { return type }
        if let type = GzipType.type(of: file.head, name: name) { return type }
        if let type = SignatureType.type(of: file.head) { return type }
        return XMLType.type(of: file.head, name: name)
    }

    /// libmagic's verdict, or a plain one without it.
    private func baseType(_ head: Excerpt) -> MIMEType {
        // Rules that fail on these bytes say nothing of them: the plain look remains.
        if let text = try? magic?.type(ofBytes: head.bytes), let type = MIMEType(text) {
            return type
        }
        return PlainLook.type(of: head)
    }

    private func refined(_ base: MIMEType, _ head: Excerpt, _ name: FileExtension) -> MIMEType {
        let type = TextType.corrected(base, head: head)
        if type == .octetStream {
            if SignatureType.isTransportStream(head) { return "video/mp2t" }
            if PlainLook.hasLatePDF(head) { return "application/pdf" }
            if head.has("ID3") { return "audio/mpeg" }
        }
        if type.type == "text", head.count == Self.magicLength,
            TextType.isLongJSON(head, name: name)
        {
            return "application/json"
        }
        return type
    }
}
