import Glibc

/// One thing that happened in a watched folder: a hint, never the truth.
package struct InotifyEvent: Hashable, Sendable {
    /// Names a watch of one `Inotify`; the kernel never gives a number out twice.
    package struct Watch: Hashable, Sendable {
        package let number: Int32

        package init(number: Int32) { self.number = number }

        /// Stands where an event belongs to no watch: `overflow`.
        package static let none = Watch(number: -1)
    }

    /// What happened.
    package struct Mask: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let modified = Mask(rawValue: UInt32(IN_MODIFY))
        /// Mode, owner, times or the count of links changed.
        package static let attributes = Mask(rawValue: UInt32(IN_ATTRIB))
        /// Somebody who could write closed the file.
        package static let closedWrite = Mask(rawValue: UInt32(IN_CLOSE_WRITE))
        package static let movedFrom = Mask(rawValue: UInt32(IN_MOVED_FROM))
        package static let movedTo = Mask(rawValue: UInt32(IN_MOVED_TO))
        package static let created = Mask(rawValue: UInt32(IN_CREATE))
        package static let deleted = Mask(rawValue: UInt32(IN_DELETE))
        /// The watched folder itself was removed.
        package static let selfDeleted = Mask(rawValue: UInt32(IN_DELETE_SELF))
        /// The watched folder itself was renamed.
        package static let selfMoved = Mask(rawValue: UInt32(IN_MOVE_SELF))
        package static let unmounted = Mask(rawValue: UInt32(IN_UNMOUNT))
        /// Events were lost: look at everything again.
        package static let overflow = Mask(rawValue: UInt32(IN_Q_OVERFLOW))
        /// The watch is gone.
        package static let ignored = Mask(rawValue: UInt32(IN_IGNORED))
        /// The name is a folder's.
        package static let isFolder = Mask(rawValue: UInt32(IN_ISDIR))

        /// All that says something of content. Without OPEN, ACCESS and CLOSE_NOWRITE: with them
        /// our own reading would fill the queue.
        package static let content: Mask = [
            .modified, .attributes, .closedWrite, .movedFrom, .movedTo, .created, .deleted,
            .selfDeleted, .selfMoved,
        ]
    }

    package let watch: Watch
    package let mask: Mask
    /// Equal in the two halves of one rename, else zero.
    package let cookie: UInt32
    /// The name in the watched folder; empty for the folder itself.
    package let name: BytePath

    package init(watch: Watch, mask: Mask, cookie: UInt32 = 0, name: BytePath = "") {
        self.watch = watch
        self.mask = mask
        self.cookie = cookie
        self.name = name
    }

    /// Says that events were lost.
    package static let overflow = InotifyEvent(watch: .none, mask: .overflow)

    /// The events in what the kernel gave out. Cut bytes at the end are left out.
    static func decode(_ buffer: UnsafeRawBufferPointer) -> [InotifyEvent] {
        let header = 16  // struct inotify_event: watch, mask, cookie, length of the name
        var events: [InotifyEvent] = []
        var offset = 0
        while offset + header <= buffer.count {
            func word<Word: FixedWidthInteger & BitwiseCopyable>(_ at: Int, _: Word.Type) -> Word {
                buffer.loadUnaligned(fromByteOffset: offset + at, as: Word.self)
            }
            let length = Int(word(12, UInt32.self))
            guard offset + header + length <= buffer.count else { break }
            let name = buffer[(offset + header)..<(offset + header + length)].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    watch: Watch(number: word(0, Int32.self)),
                    mask: Mask(rawValue: word(4, UInt32.self)), cookie: word(8, UInt32.self),
                    name: BytePath(bytes: name)))
            offset += header + length
        }
        return events
    }
}
