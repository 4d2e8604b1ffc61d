import ChuteSystem

/// What opening one picture may cost.
public struct PictureLimits: Hashable, Sendable {
    /// Width times height times the count of pictures in it, as its header says.
    public var pixelCount: Int
    /// From start to end, for each of the two programs that are run: header and picture.
    public var time: Duration
    /// Processor time for the picture; rounded up to seconds. The header gets three at most.
    public var processorTime: Duration
    /// Bytes of address space.
    public var memory: Int
    /// Bytes of the JPEG that is made.
    public var outputSize: Int

    /// Limits; the defaults let the largest pictures of phones (200 megapixels) and panoramas of
    /// twice that through.
    public init(
        pixelCount: Int = 1 << 29, time: Duration = .seconds(60),
        processorTime: Duration = .seconds(30), memory: Int = 1 << 30,
        outputSize: Int = 256 << 20
    ) {
        self.pixelCount = pixelCount
        self.time = time
        self.processorTime = processorTime
        self.memory = memory
        self.outputSize = outputSize
    }

    /// For reading the header: what spins there is ended soon.
    var header: ProcessLimits {
        ProcessLimits(
            time: time, processorTime: min(processorTime, .seconds(3)), memory: memory,
            fileSize: 1 << 20)
    }

    /// For making the JPEG.
    var picture: ProcessLimits {
        ProcessLimits(
            time: time, processorTime: processorTime, memory: memory, fileSize: outputSize)
    }
}
