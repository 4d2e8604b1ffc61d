import ChuteSystem
import Glibc
import TestSupport

@testable import ChuteKit

/// Pictures that tests make and look at, by libvips' program.
enum Pixels {
    static let vips = ProcessEnvironment.current.program("vips")
    static let isPresent = vips != nil

    /// Runs `vips` with these words; what it wrote to standard output.
    @discardableResult
    static func vips(_ words: BytePath...) throws -> String {
        let run = try CapturedRun(vips ?? "vips", words)
        guard run.end == .exited(0) else {
            throw ChuteError(.picture, String(decoding: run.error, as: UTF8.self))
        }
        return String(decoding: run.output, as: UTF8.self)
    }

    /// A header field of the picture, without the newline; `nil` where it has none.
    static func field(_ name: BytePath, of path: BytePath) throws -> String? {
        let run = try CapturedRun("vipsheader", ["-f", name, path])
        guard run.end == .exited(0) else { return nil }
        return String(decoding: run.output.dropLast(), as: UTF8.self)
    }

    static func size(of path: BytePath) throws -> [Int] {
        try ["width", "height"].compactMap { try field($0, of: path).flatMap { Int($0) } }
    }

    /// The bands of one pixel.
    static func point(_ x: Int, _ y: Int, of path: BytePath) throws -> [Double] {
        try vips("getpoint", path, BytePath("\(x)"), BytePath("\(y)"))
            .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }

    /// Makes a picture of one colour, in the format of the path's extension.
    static func make(_ path: BytePath, width: Int, height: Int, colour: String) throws {
        let plain = path.parent.appending("plain.v")
        try vips(
            "black", plain, BytePath("\(width)"), BytePath("\(height)"), "--bands",
            BytePath("\(colour.split(separator: " ").count)"))
        let ones = colour.split(separator: " ").map { _ in "1" }.joined(separator: " ")
        let tinted = path.parent.appending("tinted.v")
        try vips("linear", plain, tinted, BytePath(ones), BytePath(colour), "--uchar")
        try vips("copy", tinted, path, "--interpretation", "srgb")
        for name in [plain, tinted] { try Folder(at: path.parent).remove(name.lastComponent) }
    }

    static func bytes(of path: BytePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, O_RDONLY)
        return try file.read(count: Int(file.status().size), at: 0)
    }
}
