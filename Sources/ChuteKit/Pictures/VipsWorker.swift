import ChuteSystem

/// Opens and publishes the files of `VipsTransform`, and has the programs run.
actor VipsWorker {
    private let executor = QueueExecutor(label: "chute.pictures")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    /// Apart from the files, so that a picture waiting for its turn is let go when cancelled.
    private let programExecutor = QueueExecutor(label: "chute.vips")
    private let limits: PictureLimits
    private let programs: BytePath?

    /// libvips cuts no picture that is smaller, and takes no greater number.
    private static let anySize = 10_000_000
    /// The picture, by whatever name: names from others could be options.
    private static let input: BytePath = "/proc/self/fd/0"

    private static let environment = ProcessEnvironment([
        "LC_ALL": "C",
        "MALLOC_ARENA_MAX": "1",
        // The loaders that are not fuzzed all the time: PDF, SVG, ImageMagick and the like.
        "VIPS_BLOCK_UNTRUSTED": "1",
        "VIPS_CONCURRENCY": "1",
        // Never to files of its own in a temporary folder: memory is what has a limit.
        "VIPS_DISC_THRESHOLD": "1000g",
    ])

    init(limits: PictureLimits, programs: BytePath?) {
        self.limits = limits
        self.programs = programs
    }

    func makeJPEG(of original: BytePath, at output: BytePath, _ form: JPEGForm) async throws {
        if let edge = form.longestEdge, !(1...Self.anySize).contains(edge) {
            throw ChuteError(
                .invalid, "\(edge) is no longest edge of a picture: give 1 to \(Self.anySize)")
        }
        try Task.checkCancellation()
        let vipsheader = try program("vipsheader")
        let vips = try program("vips")
        let input = try open(original)
        let before = try fingerprint(input, original)
        let target = try create(output)

        let headerRun = try await run(
            vipsheader, ["-a", Self.input], limits.header, input: input.raw)
        if let error = failure(headerRun, original) { throw error }
        try check(headerRun.output, original)

        let edge = BytePath("\(form.longestEdge ?? Self.anySize)")
        let arguments = [
            "thumbnail", Self.input, Self.jpeg(form), edge, "--height", edge, "--size", "down",
            "--export-profile", "srgb", "--fail-on", "error",
        ]
        let pictureRun = try await run(
            vips, arguments, limits.picture, input: input.raw, output: target.file.raw)
        if let error = failure(pictureRun, original) { throw error }
        guard try fingerprint(input, original) == before else {
            throw ChuteError(
                .picture, "\(original) was written to while it was opened", isTransient: true)
        }
        try Task.checkCancellation()
        try publish(target, as: output, form)
    }

    /// Standard output, as a JPEG.
    private static func jpeg(_ form: JPEGForm) -> BytePath {
        let metadata = form.keepsMetadata ? "" : ",strip"
        return BytePath(".jpg[Q=\(form.quality.libjpegQuality),background=255\(metadata)]")
    }

    private func program(_ name: String) throws -> BytePath {
        if let programs {
            let path = programs.appending(name)
            guard ProcessEnvironment.isProgram(path) else {
                throw VipsFailure.missing("\(path) is no program")
            }
            return path
        }
        guard let path = ProcessEnvironment.current.program(name) else {
            throw VipsFailure.missing("there is no \(name) on PATH")
        }
        return path
    }

    private func run(
        _ program: BytePath, _ arguments: [BytePath], _ limits: ProcessLimits, input: Int32,
        output: Int32? = nil
    ) async throws -> LimitedRun {
        do {
            return try await LimitedRun.run(
                program, arguments, environment: Self.environment, limits: limits, input: input,
                output: output, on: programExecutor)
        } catch let error as SystemError {
            // Gone since it was looked for, or no room for another process.
            if error.isNotFound { throw VipsFailure.missing("\(error)") }
            throw ChuteError(
                .picture, "the program that opens pictures cannot be run", isTransient: true,
                cause: error)
        }
    }

    private func open(_ path: BytePath) throws -> FileDescriptor {
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, FileDescriptor.readOnlyFollowing)
            guard try file.status().kind == .regular else {
                throw SystemError(code: 22, call: "openat", path: path)  // EINVAL
            }
            return file
        } catch {
            throw ChuteError(
                .file, "the picture \(path) cannot be read: it must be a regular file",
                cause: error)
        }
    }

    /// What changes with the bytes of an open file.
    private func fingerprint(
        _ file: borrowing FileDescriptor, _ path: BytePath
    ) throws -> [Int64] {
        do throws(SystemError) {
            let status = try file.status()
            return [Int64(clamping: status.size), status.modified]
        } catch {
            throw ChuteError(.file, "the picture \(path) cannot be read", cause: error)
        }
    }

    private func create(_ path: BytePath) throws -> PictureOutput {
        _ = try FileName.checked(path.lastComponent)
        do throws(SystemError) { return try PictureOutput(at: path) } catch {
            throw Self.unwritable(path, error)
        }
    }

    private func publish(
        _ target: borrowing PictureOutput, as path: BytePath, _ form: JPEGForm
    ) throws {
        do throws(SystemError) {
            guard try target.file.status().size > 0 else {
                throw SystemError(code: 5, call: "vips", path: path)  // EIO
            }
            if form.keepsMetadata {
                let start = try target.file.read(count: ExifThumbnail.reach, at: 0)
                if let link = ExifThumbnail.link(in: start) {
                    try target.file.write([0, 0, 0, 0], at: UInt64(link))
                }
            }
            try target.publish()
        } catch {
            throw Self.unwritable(path, error)
        }
    }

    private static func unwritable(_ path: BytePath, _ error: SystemError) -> ChuteError {
        error.exists
            ? ChuteError(
                .file, "\(path) exists already, and is left as it is: give another name",
                cause: error)
            : ChuteError(
                .file, "the picture cannot be written to \(path)",
                isTransient: error.isNoSpace, cause: error)
    }

    private func failure(_ run: LimitedRun, _ original: BytePath) -> ChuteError? {
        VipsFailure(run: run, limits: limits, original: original).error
    }

    private func check(_ header: [UInt8], _ original: BytePath) throws {
        guard let header = VipsHeader(header) else {
            throw ChuteError(.picture, "\(original) is a picture without a size")
        }
        guard header.pixelCount <= limits.pixelCount else {
            throw ChuteError(
                .picture,
                "\(original) has \(header.width) times \(header.height) pixels"
                    + (header.pageCount > 1 ? " in each of \(header.pageCount) pictures" : "")
                    + ", more than the \(limits.pixelCount) that are opened")
        }
    }
}
