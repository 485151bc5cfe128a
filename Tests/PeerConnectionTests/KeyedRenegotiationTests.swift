import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Further offers of a session whose keys the descriptions carry.
@Suite struct KeyedRenegotiationTests {
    private let source = KeyedSession.source
    private let now = KeyedSession.now

    /// Hands an authentic report of the remote side on each of its lines to the connection.
    private func report(
        _ remote: NegotiatedSession, to peer: PeerConnection
    ) throws -> [PeerConnection.ReceiveOutcome] {
        let keys = try #require(remote.media.first?.keys)
        let outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
        return try remote.media.map { media in
            var datagram = RTCPPacket.encode([.receiverReport(ReceiverReport(ssrc: media.localSSRC))])
            try outbound.protect(rtcp: &datagram)
            return peer.receive(datagram, from: source, now: now)
        }
    }

    @Test("packets under the remote side's new keys are taken on each line of a bundle, and none under its old ones")
    func newKeys() throws {
        var keyed = try KeyedSession(seed: 3)
        let former = keyed.remote
        #expect(try report(former, to: keyed.peer) == [.accepted, .accepted])
        try keyed.renegotiate(keepsKeys: false)
        #expect(try report(keyed.remote, to: keyed.peer) == [.accepted, .accepted])
        #expect(try report(former, to: keyed.peer) == [.unauthenticated, .unauthenticated])
    }

    @Test("a new key of the remote side alone does not begin the numbers under our key again")
    func keptOutboundKey() throws {
        let remote = try KeyedRemote()
        remote.peer.sendReports(now: now)
        #expect(try !remote.heard().isEmpty)
        var random = SeededGenerator(seed: 12)
        var session = remote.peer.session
        let profile = try #require(session.media.first?.keys).inbound.profile
        let inbound = SRTPKeyMaterial(profile: profile, using: &random)
        for index in session.media.indices { session.media[index].keys?.inbound = inbound }
        try remote.peer.update(session: session, now: now)
        remote.peer.sendReports(now: now)
        #expect(try !remote.heard().isEmpty)
    }

    @Test("a replay is refused on each line of a bundle, also if its first line was left out when the key changed")
    func replayAfterDisabledLine() throws {
        let remote = try KeyedRemote()
        var random = SeededGenerator(seed: 13)
        var session = remote.peer.session
        var first = session.media.removeFirst()
        let profile = try #require(first.keys).inbound.profile
        let inbound = SRTPKeyMaterial(profile: profile, using: &random)
        for index in session.media.indices { session.media[index].keys?.inbound = inbound }
        try remote.peer.update(session: session, now: now)
        first.keys?.inbound = inbound
        session.media.insert(first, at: 0)
        try remote.peer.update(session: session, now: now)

        var datagram = RTCPPacket.encode([.receiverReport(ReceiverReport(ssrc: 77))])
        try SRTPContext(keys: inbound, direction: .outbound).protect(rtcp: &datagram)
        let once = remote.peer.receive(datagram, from: source, now: now)
        let again = remote.peer.receive(datagram, from: source, now: now)
        #expect(once == .accepted && again == .unauthenticated)
    }

    @Test("a stream that is added goes to where the bundle's streams go whose key is its own")
    func addedStreamAfterDisabledLine() throws {
        let remote = try KeyedRemote()
        var random = SeededGenerator(seed: 14)
        try remote.say([.receiverReport(ReceiverReport(ssrc: 77))])
        var session = remote.peer.session
        let first = session.media.removeFirst()
        let profile = try #require(first.keys).inbound.profile
        let inbound = SRTPKeyMaterial(profile: profile, using: &random)
        for index in session.media.indices { session.media[index].keys?.inbound = inbound }
        var added = first
        added.index = 9
        added.mid = "added"
        added.keys?.inbound = inbound
        added.localSSRC &+= 1
        session.media.append(added)
        try remote.peer.update(session: session, trustsDescription: false, now: now)
        #expect(remote.peer.lines.last?.rtpPath?.remote == source)
    }

    @Test("a stream that a further offer adds to a bundle goes to where the others go")
    func addedStream() throws {
        var parameters = OfferParameters(address: TransportAddress(ipv4: 0, port: 9))
        parameters.audio = nil
        var keyed = try KeyedSession(parameters, seed: 4)
        let peer = keyed.peer
        #expect(peer.lines.first?.rtpPath == nil)
        #expect(try report(keyed.remote, to: peer) == [.accepted])
        #expect(peer.lines.first?.rtpPath?.remote == source)

        try keyed.renegotiate { $0.audio = OfferParameters.Audio(direction: .receiveOnly) }
        #expect(peer.lines.count == 2)
        #expect(peer.lines.audio?.rtpPath?.remote == source)
        #expect(peer.lines.audio?.rtcpPath?.remote == source)
    }

    @Test("feedback comes from a stream that is there, when a further offer takes the first one away")
    func feedbackSource() throws {
        var keyed = try KeyedSession(seed: 6)
        let peer = keyed.peer
        try keyed.renegotiate { $0.audio = nil }
        let media = try #require(keyed.remote.video)
        let keys = try #require(media.keys)
        let outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
        let inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
        var packet = RTPPacket(
            payloadType: media.payloadType, sequenceNumber: 1, timestamp: 0, ssrc: media.localSSRC,
            payload: ByteBuffer(bytes: [0x09, 0xF0]))
        packet.extensions.setTransportSequenceNumber(
            1, id: try #require(media.extensionIDs.transportSequenceNumber))
        var datagram = packet.encode()
        try outbound.protect(rtp: &datagram)
        #expect(peer.receive(datagram, from: source, now: now) == .accepted)

        var sources: Set<UInt32> = []
        for step in 1...30 {
            let later = now + .milliseconds(10 * step)
            peer.wake(now: later)
            while let transmit = peer.pollTransmit(now: later) {
                var plain = transmit.datagram
                guard DatagramKind.classify(plain) == .rtcp, (try? inbound.unprotect(rtcp: &plain)) != nil else {
                    continue
                }
                for case .transportFeedback(let feedback) in try RTCPPacket.parse(compound: plain) {
                    sources.insert(feedback.senderSSRC)
                }
            }
        }
        let expected = try #require(keyed.session.video).localSSRC
        #expect(sources == [expected])
    }

    @Test("a line that a further offer disables sends no reports, until another offer takes it up again")
    func disabledLine() throws {
        var keyed = try KeyedSession(OfferParameters(address: source, bundle: false), seed: 7)
        let peer = keyed.peer
        var keys = try #require(keyed.remote.audio?.keys)
        func reportCount() throws -> Int {
            let inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
            peer.sendReports(now: now)
            var count = 0
            while let transmit = peer.pollTransmit(now: now) {
                var datagram = transmit.datagram
                if (try? inbound.unprotect(rtcp: &datagram)) != nil { count += 1 }
            }
            return count
        }
        #expect(try reportCount() == 1)

        try keyed.renegotiate { $0.audio = nil }
        #expect(try reportCount() == 0)

        try keyed.renegotiate { $0.audio = OfferParameters.Audio() }
        keys = try #require(keyed.remote.audio?.keys)
        #expect(try reportCount() == 1)
    }

    @Test("streams that come and go more often than a key has places for sources still get reports")
    func manySources() throws {
        var keyed = try KeyedSession(seed: 8)
        let peer = keyed.peer
        var sources: Set<UInt32> = []
        for round in 0...(2 * SRTPContext.maximumSourceCount) {
            let isShared = round.isMultiple(of: 2)
            try keyed.renegotiate {
                $0.screenShare = isShared ? OfferParameters.Video(direction: .sendOnly) : nil
            }
            if let media = keyed.session.screenShare { sources.insert(media.localSSRC) }
            peer.sendReports(now: now)
            while peer.pollTransmit(now: now) != nil {}
        }
        #expect(sources.count > SRTPContext.maximumSourceCount)
        #expect(peer.statistics(now: now).counters.protectFailures == 0)
    }

    @Test("an address that a further offer changes is followed if it is trusted, and one that it keeps is not")
    func changedAddress() throws {
        var keyed = try KeyedSession(OfferParameters(address: source.with(port: 20_001)), seed: 5)
        let peer = keyed.peer
        let first = keyed.session
        func sends(to address: TransportAddress) -> Bool {
            peer.lines.allSatisfy { $0.rtpPath?.remote == address && $0.rtcpPath?.remote == address }
        }
        #expect(sends(to: source.with(port: 20_001)))
        // A packet shows another address.
        _ = try report(keyed.remote, to: peer)
        #expect(sends(to: source))
        try peer.update(session: first, now: now)
        #expect(sends(to: source))

        try keyed.offer { $0.address = source.with(port: 20_002) }
        let second = keyed.session
        #expect(second.video?.keys == first.video?.keys)
        try peer.update(session: second, trustsDescription: false, now: now)
        #expect(sends(to: source))
        try peer.update(session: first, trustsDescription: false, now: now)
        try peer.update(session: second, now: now)
        #expect(sends(to: source.with(port: 20_002)))
    }
}
