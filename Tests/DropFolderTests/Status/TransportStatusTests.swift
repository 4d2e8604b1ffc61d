import ChuteKit
import Testing

@testable import DropFolder

struct TransportStatusTests {
    private func states(
        _ configuration: Configuration, _ states: [String: TransportState]?
    ) -> [TransportName: TransportStatus] {
        Dictionary(
            uniqueKeysWithValues: TransportStatus.all(configuration, states).map { ($0.name, $0) })
    }

    @Test func `every transport has a state, whatever runs`() {
        var configuration = Configuration()
        configuration.lan.isEnabled = false
        let found = states(configuration, ["tcp": .running("[::]:4040")])
        #expect(found.count == TransportName.allCases.count)
        #expect(found[.lan]?.state == .off)
        #expect(found[.lan]?.detail.contains("[transports.lan]") ?? false)
        #expect(found[.tcp]?.state == .running && found[.tcp]?.detail == "[::]:4040")
        #expect(found[.websocket]?.state == .waiting)
        #expect(found[.bluetooth]?.state == .notBuilt)
    }

    @Test func `what waits and what is impossible says why`() {
        let configuration = Configuration()
        let found = states(
            configuration, ["lan": .impossible("install it"), "tcp": .waiting("for a port")])
        #expect(found[.lan]?.state == .impossible && found[.lan]?.detail == "install it")
        #expect(found[.tcp]?.state == .waiting && found[.tcp]?.detail == "for a port")
        #expect(found[.websocket]?.state == .waiting)
    }

    @Test func `nothing is said to run where no agent does, nor what [network] leaves out`() {
        var configuration = Configuration()
        configuration.network.transports = [.lan]
        let found = states(configuration, nil)
        #expect(found[.lan]?.state == .stopped)
        #expect(found[.tcp]?.state == .off)
    }

    @Test func `what the agent says arrives as it was said`() {
        for status in TransportStatus.all(Configuration(), ["tcp": .waiting("why")]) {
            #expect(TransportStatus(status.value) == status)
        }
        #expect(TransportStatus(.string("x")) == nil)
    }
}
