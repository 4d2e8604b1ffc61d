package import ChuteKit

/// How one transport is, as `status` says it.
package struct TransportStatus: Hashable, Sendable {
    /// In one word, also for programs.
    package enum State: String, Sendable {
        case running, waiting, off, impossible
        /// Known to the configuration, and nothing more.
        case notBuilt = "not-built"
        /// Nothing runs that could know.
        case stopped
    }

    package let name: TransportName
    package let state: State
    /// Where it listens, what it waits for, why it is off or what to install; may be empty.
    package let detail: String

    package init(name: TransportName, state: State, detail: String) {
        self.name = name
        self.state = state
        self.detail = detail
    }

    /// All transports of a configuration. `states` is what the engine says of those that run;
    /// `nil` where no agent does.
    package static func all(
        _ configuration: Configuration, _ states: [String: TransportState]?
    ) -> [TransportStatus] {
        TransportName.allCases.map { name in
            guard TransportName.built.contains(name) else {
                return TransportStatus(name: name, state: .notBuilt, detail: "")
            }
            if let reason = configuration.offReason(of: name) {
                return TransportStatus(name: name, state: .off, detail: reason)
            }
            guard let states else {
                return TransportStatus(name: name, state: .stopped, detail: "")
            }
            return switch states[name.rawValue] {
            case .running(let words):
                TransportStatus(name: name, state: .running, detail: words ?? "dials only")
            case .waiting(let why): TransportStatus(name: name, state: .waiting, detail: why)
            case .impossible(let why):
                TransportStatus(name: name, state: .impossible, detail: why)
            case nil: TransportStatus(name: name, state: .waiting, detail: "it starts")
            }
        }
    }

    var value: Value {
        .map([
            "name": .string(name.rawValue), "state": .string(state.rawValue),
            "detail": .string(detail),
        ])
    }

    init?(_ value: Value) {
        guard let fields = value.map,
            let name = fields["name"]?.string.flatMap(TransportName.init(rawValue:)),
            let state = fields["state"]?.string.flatMap(State.init(rawValue:)),
            let detail = fields["detail"]?.string
        else { return nil }
        self.init(name: name, state: state, detail: detail)
    }

    var json: JSONValue {
        .object([
            "name": .string(name.rawValue), "state": .string(state.rawValue),
            "detail": .string(detail),
        ])
    }
}

extension Configuration {
    /// Why a transport is off by configuration, and what to change; `nil` where it is on.
    func offReason(of name: TransportName) -> String? {
        guard network.transports.contains(name) else {
            return "not among the transports of [network]"
        }
        switch name {
        case .lan: return lan.isEnabled ? nil : "enabled = false in [transports.lan]"
        case .tcp, .websocket, .bluetooth, .bucket, .folder: return nil
        }
    }
}
