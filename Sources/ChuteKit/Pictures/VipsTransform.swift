import ChuteSystem

/// Makes JPEGs by libvips, in a process of its own for each picture.
///
/// Pictures come from others, and what opens them has faults. So the programs of libvips
/// (`vips` and `vipsheader`, of Debian's `libvips-tools`) get a picture as an open file and
/// nothing else: no file names, no environment, no rights to gain, no connections, only the
/// loaders that libvips trusts (JPEG, PNG, GIF, WebP, TIFF, HEIC, AVIF), and so much time,
/// memory and output as `limits` say. What ends there is one error here.
///
/// ## Concurrency
/// Files are opened and made durable on one thread, and the programs are started and awaited on
/// another: one picture at a time for each value, the others wait. Copies of a value share both.
public struct VipsTransform: ImageTransform {
    /// What a picture may cost.
    public let limits: PictureLimits
    private let worker: VipsWorker

    /// A transform with these limits, by the programs in the folder `programs`: by default those
    /// on `PATH`. Nothing is looked for before there is a picture to be opened.
    public init(limits: PictureLimits = PictureLimits(), programs: BytePath? = nil) {
        self.limits = limits
        worker = VipsWorker(limits: limits, programs: programs)
    }

    /// Makes a JPEG of the picture at `original` as the file `output`, which must not exist.
    ///
    /// Throws `missingProgram` where libvips is not installed, else as `ImageTransform` says;
    /// `CancellationError` once the process is gone, which is at once. Anybody may call it. The
    /// file is whole and durable when it returns.
    public func makeJPEG(
        of original: BytePath, at output: BytePath, _ form: JPEGForm
    ) async throws {
        try await worker.makeJPEG(of: original, at: output, form)
    }
}
