import CLinux

/// What a program may use that is not trusted with this machine.
package struct ProcessLimits: Hashable, Sendable {
    /// From its start to its end.
    package var time: Duration
    /// Rounded up to seconds, at least one.
    package var processorTime: Duration
    /// Bytes of address space: what it uses is less.
    package var memory: Int
    /// Bytes of each file that it writes, its output among them.
    package var fileSize: Int
    /// How many descriptors it may have open.
    package var descriptorCount: Int

    package init(
        time: Duration, processorTime: Duration, memory: Int, fileSize: Int,
        descriptorCount: Int = 64
    ) {
        self.time = time
        self.processorTime = processorTime
        self.memory = memory
        self.fileSize = fileSize
        self.descriptorCount = descriptorCount
    }

    /// Seconds of processor time, as the kernel counts them.
    var processorSeconds: UInt64 {
        let (seconds, rest) = processorTime.components
        return UInt64(max(1, rest > 0 ? seconds.addingReportingOverflow(1).partialValue : seconds))
    }

    var raw: chute_limits {
        chute_limits(
            processor_seconds: processorSeconds, address_space: UInt64(max(1, memory)),
            file_size: UInt64(max(1, fileSize)), descriptors: UInt64(max(8, descriptorCount)))
    }
}
