/// What a JPEG that is made of a picture looks like.
public struct JPEGForm: Hashable, Sendable {
    /// How much it keeps.
    public var quality: JPEGQuality
    /// The width or height of the picture, whichever is greater, in pixels; a smaller one is not
    /// enlarged. `nil` for the size of the original.
    public var longestEdge: Int?
    /// Whether date, camera, place and what else the original says of itself goes along. Without,
    /// nothing of it does: a thumbnail does not tell where it was taken.
    public var keepsMetadata: Bool

    /// A form; by default the size of the original, and no metadata.
    public init(quality: JPEGQuality, longestEdge: Int? = nil, keepsMetadata: Bool = false) {
        self.quality = quality
        self.longestEdge = longestEdge
        self.keepsMetadata = keepsMetadata
    }
}
