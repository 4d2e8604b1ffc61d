import ChuteKit
import ChuteSystem
import Glibc

/// Looks whether the key and the folders of a configuration can be what they are configured to be, as far as
/// that can be told without making anything.
///
/// What the text alone tells, `ConfigurationReader` says; here links are followed and file systems
/// are asked. All calls block.
package struct ConfigurationProbe {
    private struct Place {
        let path: BytePath
        let key: String
        let position: TOMLPosition
        let chain: RootOverlap.Place
    }

    private let space: Space
    private var problems: [ConfigurationProblem] = []
    private var notices: [ConfigurationProblem] = []

    /// What is wrong, and what is so right now only: a drive may not be mounted. In the order of
    /// the file.
    package struct Findings: Hashable, Sendable {
        package var problems: [ConfigurationProblem] = []
        package var notices: [ConfigurationProblem] = []
    }

    /// Which space the marks of folders are compared with.
    enum Space: Hashable {
        /// Only the agent knows: marks are not looked at.
        case unknown
        /// `nil` for a device that is in none.
        case known(SpaceID?)
    }

    /// Looks at the key and the folders that the configuration of `home` names.
    package static func look(at home: Home) throws -> Findings {
        try look(at: try Configuration.text(of: home.configurationFile), home, .unknown)
    }

    /// Looks at the key and the folders that a text names, which is one for `home`.
    static func look(at text: [UInt8], _ home: Home, _ space: Space) throws -> Findings {
        let reader = try ConfigurationReader.reading(
            text, home.configurationFile, home.userFolder, home.stateFolder
        ).reader
        var probe = ConfigurationProbe(space: space)
        if let (path, position) = reader.sharedKey { probe.key(path, position, home) }
        var places: [Place] = []
        let targets = reader.moveTargets.map { ($0.path, "after_ingest_folder", $0.position) }
        for (path, key, position) in reader.roots + targets {
            guard let place = probe.place(path, key, position) else { continue }
            probe.compare(place, with: places, home.stateFolder)
            places.append(place)
        }
        let byPosition = { (one: ConfigurationProblem, other: ConfigurationProblem) in
            one.position < other.position
        }
        return Findings(
            problems: probe.problems.sorted(by: byPosition),
            notices: probe.notices.sorted(by: byPosition))
    }

    /// Looks at one path; `nil` where it can be no folder.
    private mutating func place(
        _ path: BytePath, _ key: String, _ position: TOMLPosition
    ) -> Place? {
        func problem(_ what: String) -> ConfigurationProblem {
            ConfigurationProblem(position: position, message: "\(key) \(path) \(what)")
        }
        do throws(SystemError) {
            let existing = try Self.existing(path)
            guard try FileStatus.of(existing, followingLinks: true).kind == .directory else {
                problems.append(
                    problem(
                        existing == path
                            ? "is no folder" : "cannot be there: \(existing) is no folder"))
                return nil
            }
            let folder = try Folder(at: existing)
            let info = try FileSystemInfo.of(descriptor: folder.descriptor.raw)
            if Self.kernelTypes.contains(info.type) {
                problems.append(
                    problem("is in a file system of the kernel's own, where no files are kept"))
                return nil
            }
            // An inbox that cannot be written is read all the same.
            let mayWrite = existing.withCString { access($0, W_OK | X_OK) } == 0
            if !mayWrite, existing != path || key != "inbox" {
                notices.append(
                    problem(
                        existing == path
                            ? "cannot be written by this user now"
                            : "is not there, and this user cannot make it in \(existing) now"))
            }
            return Place(
                path: path, key: key, position: position,
                chain: try .at(path, use: .init(Self.kind(of: key), space: spaceOfMarks)))
        } catch {
            problems.append(problem("cannot be looked at: \(error.reason)"))
            return nil
        }
    }

    private var spaceOfMarks: String? {
        if case .known(let space) = space { space?.description } else { nil }
    }

    /// A key that is not there yet is made with the home.
    private mutating func key(_ path: BytePath, _ position: TOMLPosition, _ home: Home) {
        do throws(SharedKey.FileError) {
            _ = try SharedKey.read(path)
        } catch {
            if error.isMissing, (try? FileStatus.of(home.keyFile)) == nil { return }
            problems.append(
                ConfigurationProblem(position: position, message: "shared_key: \(error)"))
        }
    }

    private static func kind(of key: String) -> RootMark.Use.Kind {
        switch key {
        case "inbox": .inbox
        case "outbox": .outbox
        default: .afterIngest
        }
    }

    /// Whether this user may make a folder that is not there. Blocks.
    static func mayMake(_ path: BytePath) -> Bool {
        guard let existing = try? existing(path) else { return false }
        return existing.withCString { access($0, W_OK | X_OK) } == 0
    }

    /// The path, or the nearest one above it that is there.
    private static func existing(_ path: BytePath) throws(SystemError) -> BytePath {
        var path = path
        while true {
            do throws(SystemError) {
                _ = try FileStatus.of(path, followingLinks: true)
                return path
            } catch {
                guard error.isNotFound, path != path.parent else { throw error }
                path = path.parent
            }
        }
    }

    private mutating func compare(_ place: Place, with others: [Place], _ state: BytePath) {
        var what: String?
        var conflict = others.lazy.compactMap { other in
            RootOverlap.conflicts(among: [other.chain, place.chain]).first {
                if case .markedAs = $0 { false } else { true }
            }
        }.first
        // What marks say depends on the space.
        if conflict == nil, space != .unknown {
            conflict = RootOverlap.conflicts(among: [place.chain]).first
        }
        if let conflict { what = conflict.sentence }
        if let own = try? RootOverlap.Place.at(state, use: .init(.inbox, space: nil)), own.exists {
            if let top = own.chain.first, place.chain.chain.contains(top) {
                what = "\(place.path) lies in the agent's own folder \(state)"
            } else if place.chain.exists, let top = place.chain.chain.first,
                own.chain.contains(top)
            {
                what = "the agent's own folder \(state) lies in \(place.path)"
            }
        }
        guard let what else { return }
        problems.append(
            ConfigurationProblem(
                position: place.position,
                message: "\(place.key): \(what), expected folders of which none lies in another",
                isOverlap: true))
    }

    /// proc, sysfs, cgroup and its successor, debugfs, tracefs, securityfs, configfs, efivarfs,
    /// pstore, bpf, devpts, mqueue, fusectl, binfmt_misc, SELinux.
    private static let kernelTypes: Set<UInt64> = [
        0x9FA0, 0x6265_6572, 0x27_E0EB, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673,
        0x6265_6570, 0xDE5E_81E4, 0x6165_676C, 0xCAFE_4A11, 0x1CD1, 0x1980_0202, 0x6573_5543,
        0x4249_4E4D, 0xF97C_FF8C,
    ]
}
