import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Calls over a path that ICE finds, with keys that a DTLS handshake makes, as browsers have them.
@Suite struct DTLSCallTests {
    private static func retransmitting(_ parameters: inout OfferParameters) {
        parameters.video?.formats = [
            OfferParameters.VideoFormat(
                payloadType: 102,
                parameters: H264FormatParameters(
                    profileLevelID: H264ProfileLevelID(.constrainedBaseline, level: .level31)),
                retransmissionPayloadType: 103)
        ]
    }

    private func snapshot(_ client: TestClient, in call: VirtualCall) throws -> ParticipantSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == client.participantID })
    }

    @Test("two clients that join over ICE and DTLS see and hear each other, and a third by SDES sees both")
    func seeingAndHearing() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let ben = try call.join("Ben", colour: .green, overDTLS: true)
        let cy = try call.join("Cy", colour: .blue)
        call.run(for: .seconds(3))
        #expect(ada.connectionStates == [.connected])
        for client in [ada, ben, cy] {
            #expect(client.arrivals.count > 30, "\(client.name) got \(client.arrivals.count) frames")
            #expect(client.audioPackets.count > 100)
            #expect(client.decodeFailures == 0)
        }
        let picture = try #require(cy.picture)
        #expect(picture.colour(x: 80, y: 90).resembles(.red))
        #expect(picture.colour(x: 240, y: 90).resembles(.green))
        let counters = call.relay.snapshot(now: call.now).datagrams
        #expect(counters.checks >= 4)
        #expect(counters.handshakes >= 4)
        #expect(counters.checksRefused == 0 && counters.handshakesRefused == 0)
    }

    @Test("lost packets come again in streams of their own, both ways")
    func retransmission() throws {
        let call = VirtualCall()
        let lossy = LinkProfile(rate: .unlimited, delay: .milliseconds(20), loss: 0.05)
        let ada = try call.join(
            "Ada", colour: .red, overDTLS: true, downlink: lossy, adjust: Self.retransmitting)
        let ben = try call.join("Ben", colour: .green, overDTLS: true, adjust: Self.retransmitting)
        ben.uplink = LinkModel(profile: lossy, seed: 9, start: call.now)
        call.run(for: .seconds(10))
        let statistics = ada.peer.statistics(now: call.now)
        #expect(statistics.video.retransmissionsReceived > 5)
        #expect(statistics.video.packetsLost > 5, "what came again counts as lost in the stream itself")
        #expect(ada.arrivals.count > 130, "\(ada.arrivals.count) frames of 150")
        #expect(ben.peer.statistics(now: call.now).counters.retransmissions > 0)
        let uplink = try snapshot(ben, in: call).uplink
        #expect(uplink.framesDecoded > 130, "\(uplink.framesDecoded) frames decoded of 150")
        #expect(try snapshot(ada, in: call).downlink.keyframes < 4)
    }

    @Test("the relay begins the handshake of a client that will not")
    func relayAsDTLSClient() throws {
        let call = VirtualCall()
        call.rewriteOffer = { $0.replacing("a=setup:actpass", with: "a=setup:passive") }
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.rewriteOffer = { $0 }
        #expect(ada.peer.session.transport?.dtlsRole == .server)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count > 20)
        #expect(ada.connectionStates == [.connected])
    }

    @Test("a viewer sends only checks, and leaves with the alert that closes the association")
    func watching() throws {
        let call = VirtualCall()
        try call.join("Ada", video: nil, overDTLS: true)
        let watcher = try call.join(
            "Cy", video: .receiveOnly, audio: .receiveOnly, role: .watch, overDTLS: true)
        call.run(for: .seconds(40))
        // An unchanged picture comes once a second.
        #expect(watcher.arrivals.count > 40)
        #expect(call.relay.population.participants == 2)
        watcher.peer.close(now: call.now)
        call.run(for: .milliseconds(100))
        #expect(call.relay.population.participants == 1)
    }

    @Test("an offer that cannot be accepted changes nothing, and one of an absent participant gets an error")
    func refusedRenegotiation() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        #expect(throws: JoinError.self) {
            try call.relay.renegotiate(
                room: "demo", participant: ada.participantID, offer: ReceivedOffer("v=0\r\nnonsense\r\n"),
                now: call.now)
        }
        #expect(throws: JoinError.self) {
            try call.relay.renegotiate(room: "demo", participant: "nobody", offer: ReceivedOffer(""), now: call.now)
        }
        let credentials = call.makeCredentials()
        #expect(throws: TrickleError.notSupported) { try call.restart(ben, with: credentials, ifMatch: nil) }
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
        #expect(ada.connectionStates == [.connected])
    }

    @Test("without a certificate an offer of DTLS is refused")
    func noCertificate() throws {
        let call = VirtualCall { $0.certificate = nil }
        #expect(throws: JoinError.self) { try call.join("Ada", colour: .red, overDTLS: true) }
        #expect(call.relay.population == (0, 0))
    }

    @Test("handshake and call begin under 30 % loss and reordering", arguments: 1...5)
    func handshakeUnderLoss(seed: UInt64) throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let rough = LinkProfile(
            rate: .unlimited, delay: .milliseconds(30), jitter: .milliseconds(60), reorders: true, loss: 0.3)
        ada.uplink = LinkModel(profile: rough, seed: seed, start: call.now)
        ada.downlink = LinkModel(profile: rough, seed: seed + 100, start: call.now)
        #expect(call.run(until: { ada.connectionStates.contains(.connected) }, limit: .seconds(25)))
        #expect(call.run(until: { !ada.audioPackets.isEmpty || !ada.arrivals.isEmpty }, limit: .seconds(10)))
    }

    @Test("nothing is sent to a peer before it has sent an authentic check")
    func nothingBeforeAChecks() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.drops = { datagram, isDownlink, _ in !isDownlink && DatagramKind.classify(datagram) == .stun }
        call.run(for: .seconds(5))
        #expect(call.destinations.isEmpty)
        #expect(ada.connectionStates.isEmpty)
        call.drops = { _, _, _ in false }
        #expect(call.run(until: { ada.connectionStates.contains(.connected) }, limit: .seconds(10)))
    }

    @Test("a phone that goes from one network to another keeps its call")
    func changedAddress() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        ada.address = TransportAddress(ipv4: 0x7f00_0001, port: 31_000)
        ada.peer.networkChanged(now: call.now)
        call.run(for: .milliseconds(100))
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
        #expect(!ada.connectionStates.contains(.reconnecting))
        #expect(call.relay.population.participants == 2)
    }

    @Test("a silent participant is reconnecting, comes back, and leaves after half a minute of silence")
    func silence() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let ben = try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        var told: [ConnectionState] = []
        func follow() {
            while let event = call.relay.pollRoomEvent() {
                guard case .participantChanged(let summary) = event.kind, summary.id == ada.participantID,
                    told.last != summary.connection
                else { continue }
                told.append(summary.connection)
            }
        }
        call.drops = { _, _, client in client === ada }
        call.run(for: .seconds(8))
        follow()
        #expect(told == [.connected, .reconnecting])
        call.drops = { _, _, _ in false }
        call.run(for: .seconds(3))
        follow()
        #expect(told == [.connected, .reconnecting, .connected])
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)

        call.drops = { _, _, client in client === ada }
        ada.isSendingVideo = false
        ben.isSendingVideo = false
        call.run(for: .seconds(31))
        #expect(call.relay.snapshot(now: call.now).rooms[0].participants.map(\.id) == [ben.participantID])
    }

    @Test("an ICE restart by fragment gives new credentials, and the call continues from a new address")
    func restart() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        let tag = "\"\(try #require(ada.peer.session.transport).remoteCredentials.usernameFragment)\""
        let credentials = call.makeCredentials()
        #expect(throws: TrickleError.sessionReplaced) { try call.restart(ada, with: credentials, ifMatch: "\"old\"") }
        let answer = try #require(try call.restart(ada, with: credentials, ifMatch: tag))
        #expect(answer.isLite)
        #expect(answer.candidates.map(\.address) == [VirtualCall.relayAddress])
        #expect(throws: TrickleError.sessionReplaced) { try call.restart(ada, with: credentials, ifMatch: tag) }
        ada.address = TransportAddress(ipv4: 0x7f00_0001, port: 31_001)
        call.run(for: .milliseconds(500))
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
        #expect(!ada.connectionStates.contains(.failed))
    }

    @Test("a call goes on by its former credentials, however many answers to ICE restarts are lost")
    func lostRestarts() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        for _ in 0..<4 {
            let fragment = TrickleICEFragment(credentials: call.makeCredentials())
            _ = try call.relay.trickle(
                room: "demo", participant: ada.participantID, fragment: fragment, ifMatch: "*", now: call.now)
        }
        call.run(for: .seconds(35))
        #expect(ada.connectionStates == [.connected])
        #expect(call.relay.population.participants == 2)
        try call.restart(ada, with: call.makeCredentials(), ifMatch: "*")
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
        #expect(ada.connectionStates == [.connected])
    }

    @Test("an ICE restart whose answer is lost gets the same answer again, and candidates get none")
    func repeatedRestart() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let first = try #require(ada.peer.session.transport).localCredentials
        call.run(for: .seconds(1))
        #expect(try call.restart(ada, with: first, ifMatch: "*") == nil, "candidates of the session at any time")
        let fragment = TrickleICEFragment(credentials: call.makeCredentials())
        func send(ifMatch: String) throws -> TrickleICEFragment? {
            try call.relay.trickle(
                room: "demo", participant: ada.participantID, fragment: fragment, ifMatch: ifMatch, now: call.now)
        }
        let answer = try #require(try send(ifMatch: "*"))
        #expect(try send(ifMatch: "*") == answer)
        let tag = "\"\(try #require(answer.credentials).usernameFragment)\""
        #expect(try send(ifMatch: tag) == nil)
    }

    @Test("an ICE restart by offer keeps keys and streams")
    func restartByOffer() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        let credentials = call.makeCredentials()
        try call.renegotiate(ada) { parameters in
            guard case .dtls(let fingerprint, _) = parameters.transport else { return }
            parameters.transport = .dtls(fingerprint: fingerprint, credentials: credentials)
        }
        let keyframes = ada.keyframesReceived
        let before = ada.arrivals.count
        call.run(for: .seconds(2))
        #expect(ada.arrivals.count - before > 25)
        #expect(ada.keyframesReceived == keyframes, "the restart cost a keyframe")
        #expect(ada.connectionStates == [.connected])
    }

    @Test("a client that stops sending all at once leaves no report that is due for ever")
    func sendingNothing() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.run(for: .seconds(2))
        let peer = try #require(call.relay.participants.values.first?.peer)
        #expect(
            call.run(until: { peer.feedback.nextDeadline > call.now && peer.feedback.nextDeadline < .distantFuture }))
        try call.renegotiate(ada) { parameters in
            parameters.video?.direction = .receiveOnly
            parameters.audio?.direction = .receiveOnly
        }
        let later = call.now + .milliseconds(60)
        var wakes = 0
        while call.relay.nextWakeUp <= later, wakes < 1000 {
            call.relay.wake(now: later)
            while call.relay.pollTransmit(now: later) != nil {}
            wakes += 1
        }
        #expect(wakes < 10)
    }

    @Test("a screen that is presented by a further offer is shown large, and goes with the next one")
    func presenting() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true, adjust: Self.retransmitting)
        let ben = try call.join("Ben", colour: .green, overDTLS: true)
        call.run(for: .seconds(2))
        try call.renegotiate(ada) { $0.screenShare = OfferParameters.Video(direction: .sendOnly) }
        #expect(ada.peer.session.screenShare?.sends == true)
        ada.screenShare = .blue
        call.run(for: .seconds(3))
        var picture = try #require(ben.picture)
        #expect(picture.colour(x: 140, y: 90).resembles(.blue))

        ada.screenShare = nil
        try call.renegotiate(ada) { $0.screenShare = nil }
        call.run(for: .seconds(2))
        picture = try #require(ben.picture)
        #expect(picture.colour(x: 160, y: 90).resembles(.red))
        #expect(ada.decodeFailures == 0 && ben.decodeFailures == 0)
    }

    @Test("streams without announced sources are distinguished by the line that their packets name")
    func demultiplexingByMID() throws {
        let call = VirtualCall()
        call.rewriteOffer = { offer in
            offer.split(separator: "\r\n").filter { !$0.hasPrefix("a=ssrc") }.joined(separator: "\r\n") + "\r\n"
        }
        let ada = try call.join("Ada", colour: .red, overDTLS: true) {
            $0.screenShare = OfferParameters.Video(direction: .sendOnly)
        }
        ada.screenShare = .blue
        let ben = try call.join("Ben", overDTLS: true)
        call.run(for: .seconds(3))
        let picture = try #require(ben.picture)
        #expect(picture.colour(x: 140, y: 90).resembles(.blue))
        #expect(try snapshot(ada, in: call).uplink.framesDecoded > 30)
    }

    @Test("pictures that are marked as turned are upright in the composition")
    func orientation() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        ada.rotation = .clockwise90
        let ben = try call.join("Ben", video: .receiveOnly, audio: .receiveOnly, overDTLS: true)
        call.run(for: .seconds(2))
        // An avatar picture of 90 by 160 stands in the middle of the canvas.
        var picture = try #require(ben.picture)
        #expect(picture.colour(x: 160, y: 90).resembles(.red))
        let corner = picture.colour(x: 20, y: 90)
        #expect(!corner.resembles(.red))
        ada.rotation = .none
        call.run(for: .seconds(1))
        picture = try #require(ben.picture)
        #expect(picture.colour(x: 20, y: 90).resembles(.red))
    }

    @Test("a client with another certificate than its offer's is refused, and leaves")
    func wrongFingerprint() throws {
        let call = VirtualCall()
        let stranger = try #require(CertificateFingerprint(digest: Array(repeating: 7, count: 32)))
        let ada = try call.join("Ada", colour: .red, overDTLS: true) { parameters in
            guard case .dtls(_, let credentials) = parameters.transport else { return }
            parameters.transport = .dtls(fingerprint: stranger, credentials: credentials)
        }
        call.run(for: .seconds(3))
        #expect(call.relay.population == (0, 0))
        #expect(ada.arrivals.isEmpty && ada.audioPackets.isEmpty)
        #expect(ada.connectionStates == [.failed])
    }
}
