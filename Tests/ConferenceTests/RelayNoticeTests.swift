import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// The messages that a relay writes to its log.
@Suite struct RelayNoticeTests {
    private func notices(_ call: VirtualCall) -> [RelayNotice] {
        var notices: [RelayNotice] = []
        while let notice = call.relay.pollNotice() { notices.append(notice) }
        return notices
    }

    private func leaves(_ call: VirtualCall) -> [String: LeaveReason] {
        var reasons: [String: LeaveReason] = [:]
        for case .left(let member, let reason, _) in notices(call) { reasons[member.name] = reason }
        return reasons
    }

    @Test("Each join, connection and leave is logged once, with room, id, name, address and the time between")
    func joinAndLeave() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let member = RelayNotice.Member(
            room: "demo", id: ada.participantID, name: "Ada", role: .sendAndReceive, address: ada.address)
        #expect(notices(call) == [.joined(member)])
        call.run(for: .seconds(2))
        let later = notices(call)
        guard case .connected(member, let wait) = later.first else {
            Issue.record("\(later)")
            return
        }
        #expect(later.count == 1 && wait > .zero && wait < .seconds(1))
        #expect(call.relay.leave(room: "demo", participant: ada.participantID, now: call.now))
        call.run(for: .seconds(2))
        #expect(notices(call) == [.left(member, .left, after: .seconds(2))])
    }

    @Test("A join that a proxy has passed on is logged with the address of its client")
    func proxiedJoin() throws {
        let call = VirtualCall()
        let client = TransportAddress(ipv4: 0xC000_0207, port: 0)
        try call.join("Ada", adjustRequest: { ($0.signallingPeer, $0.client) = (nil, client) })
        let addresses = notices(call).map { notice -> TransportAddress? in
            if case .joined(let member) = notice { member.address } else { nil }
        }
        #expect(addresses == [client])
    }

    @Test("A leave is reported with its reason")
    func reasons() throws {
        let call = VirtualCall { $0.idleTimeout = .seconds(20) }
        try call.join("Stays", colour: .red)
        let goodbye = try call.join("Says goodbye", colour: .red)
        let silent = try call.join("Falls silent", colour: .green)
        let failing = try call.join("Loses its path", colour: .blue, overDTLS: true)
        call.run(for: .seconds(2))
        #expect(leaves(call).isEmpty)
        goodbye.peer.close(now: call.now)
        call.drops = { _, isDownlink, client in !isDownlink && (client === silent || client === failing) }
        call.run(for: .milliseconds(100))
        let late = try call.join("Never connects", colour: .yellow)
        call.remove(late)
        call.run(for: .seconds(35))
        #expect(
            leaves(call) == [
                "Says goodbye": .left, "Falls silent": .idle, "Loses its path": .failed,
                "Never connects": .neverConnected,
            ])
        call.relay.close(now: call.now)
        #expect(leaves(call) == ["Stays": .closing])
    }

    @Test("A receiver is told once that sending stops")
    func silence() throws {
        let call = VirtualCall { $0.idleTimeout = .seconds(60) }
        let ben = try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        call.run(for: .seconds(2))
        _ = notices(call)
        call.drops = { _, isDownlink, _ in !isDownlink }
        call.run(for: .seconds(30))
        let told = notices(call)
        #expect(told.count == 1)
        guard case .fellSilent(let member, let limit) = told.first, limit == .seconds(15) else {
            Issue.record("\(told)")
            return
        }
        #expect(member.id == ben.participantID)
    }

    @Test(
        "Packets that fail authentication are logged at most every ten seconds, with their number and the last address")
    func failures() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        var recorded: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, _ in
            if !isDownlink, recorded.count < 100 { recorded.append(datagram) }
            return false
        }
        call.run(for: .seconds(2))
        _ = notices(call)
        let thief = TransportAddress(ipv4: 0x0A00_0001, port: 4000)
        for datagram in recorded { call.inject(datagram, from: ada.address) }
        for datagram in recorded { call.inject(datagram, from: thief) }
        call.run(for: .seconds(1))
        #expect(notices(call) == [.authenticationFailed(packets: 200, last: thief)])
        for _ in 0..<9 {
            for datagram in recorded { call.inject(datagram, from: thief) }
            call.run(for: .seconds(1))
        }
        #expect(notices(call).isEmpty)
        call.run(for: .seconds(2))
        #expect(notices(call) == [.authenticationFailed(packets: 900, last: thief)])
        call.run(for: .seconds(30))
        #expect(notices(call).isEmpty)
    }

    @Test("Clients with their keys in the session description send nothing that fails authentication")
    func honestClients() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        call.run(for: .seconds(10))
        #expect(call.relay.snapshot(now: call.now).datagrams.unauthenticated == 0)
    }

    @Test("Notices that nobody asks for do not pile up")
    func bound() {
        var log = RelayNoticeLog(now: .zero)
        let member = RelayNotice.Member(room: "r", id: "i", name: "n", role: .watch, address: nil)
        for _ in 0..<10_000 { log.append(.joined(member)) }
        var count = 0
        while log.popFirst() != nil { count += 1 }
        #expect(count == 1024)
    }
}
