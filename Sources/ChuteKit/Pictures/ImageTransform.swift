import ChuteSystem

/// Makes JPEGs of pictures.
///
/// The original is read and never altered. Size and quality are asked for together and the picture
/// is encoded once: make each form from the original, not from another form.
///
/// A JPEG shows what a person expects: upright, in sRGB, of an animation the first picture, what is
/// transparent on white.
public protocol ImageTransform: Sendable {
    /// Makes a JPEG of the picture at `original` as the file `output`, which must not exist.
    ///
    /// Throws `picture` where the original cannot be opened as one, is damaged, or asks for more
    /// memory, time or pixels than allowed, `file` where one of the two files cannot be used or
    /// `output` exists, `invalid` for a form that is none, and `CancellationError`. Then there is
    /// nothing at `output` that was not there before. Anybody may call it, also many at once.
    /// The file is whole and durable when it returns, and its name never shows a part of it.
    func makeJPEG(of original: BytePath, at output: BytePath, _ form: JPEGForm) async throws
}

extension ImageTransform {
    /// Encodes the picture anew in its own size, without metadata.
    ///
    /// Throws, and is durable, as `makeJPEG(of:at:_:)`. Anybody may call it.
    public func encode(
        _ original: BytePath, to output: BytePath, quality: JPEGQuality
    ) async throws {
        try await makeJPEG(of: original, at: output, JPEGForm(quality: quality))
    }

    /// Makes a small picture: `longestEdge` pixels at most, without metadata.
    ///
    /// Throws, and is durable, as `makeJPEG(of:at:_:)`. Anybody may call it.
    public func thumbnail(
        of original: BytePath, at output: BytePath, longestEdge: Int,
        quality: JPEGQuality = .high
    ) async throws {
        try await makeJPEG(
            of: original, at: output, JPEGForm(quality: quality, longestEdge: longestEdge))
    }
}
