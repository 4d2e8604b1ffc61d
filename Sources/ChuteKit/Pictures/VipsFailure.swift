import ChuteSystem

/// What a program of libvips that did not do its work says about a picture.
struct VipsFailure {
    let run: LimitedRun
    let limits: PictureLimits
    let original: BytePath

    /// The error for whoever asked; `nil` where the run succeeded.
    var error: ChuteError? {
        switch run.end {
        // It goes on without the memory and writes what it has, with holes.
        case .exited(0): mentions("out of memory", "error in tile") ? failure : nil
        case .timeIsUp:
            // A busy machine or a slow disk does that too.
            ChuteError(
                .picture, "\(original) could not be opened within \(limits.time)",
                isTransient: true)
        case .processorTimeIsUp:
            said("takes too much processor time to open; it may be made to")
        case .fileIsTooLarge: said("becomes a file that is too large")
        case .exited, .killed: failure
        }
    }

    private var failure: ChuteError {
        if mentions(
            "out of memory", "Cannot allocate", "ailed to allocate", "bad_alloc",
            "failed to map segment", "unable to allocate")
        {
            return said("takes more than the \(limits.memory) bytes of memory that it may")
        }
        if mentions("No space left on device", "Disk quota exceeded") {
            return ChuteError(
                .file, "there is no space for the JPEG of \(original)", isTransient: true)
        }
        if mentions("error while loading shared libraries") { return Self.missing(reason) }
        if mentions("operation is blocked", "is not a known file format") {
            return said(
                "is no picture of a kind that is opened: JPEG, PNG, GIF, WebP, TIFF, HEIC, AVIF")
        }
        if case .killed(let signal) = run.end {
            return said("made the program that opens it end by signal \(signal)")
        }
        return said("is damaged, or of a kind that cannot be opened (\(reason))")
    }

    private func said(_ what: String) -> ChuteError {
        ChuteError(.picture, "\(original) \(what). The file itself is as it was")
    }

    private func mentions(_ phrases: String...) -> Bool {
        let text = String(decoding: run.error, as: UTF8.self)
        return phrases.contains { text.contains($0) }
    }

    /// The last line that the program wrote, but for warnings; for people.
    private var reason: String {
        let lines = run.error.split(separator: UInt8(ascii: "\n"))
        let last = lines.last { line in
            let text = String(decoding: line, as: UTF8.self)
            return !text.contains("WARNING **") && text.contains { $0.isLetter }
        }
        guard let last else { return "no reason given" }
        return BytePath(bytes: last.prefix(200)).description
    }

    /// The programs are not there.
    static func missing(_ reason: String) -> ChuteError {
        ChuteError(
            .missingProgram,
            "pictures need the programs vips and vipsheader (\(reason)): install libvips-tools "
                + "(`apt install libvips-tools` on Debian and Ubuntu)")
    }
}
