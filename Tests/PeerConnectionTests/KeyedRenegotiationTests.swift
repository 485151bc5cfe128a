import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Further offers of a session whose keys the descriptions carry.
@Suite struct KeyedRenegotiationTests {
    private static let policy = AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000))
    private let source = TransportAddress(ipv4: 0x7f00_0001, port: 20_000)
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func makePeer(_ session: NegotiatedSession) throws -> PeerConnection {
        try PeerConnection(
            session: session,
            configuration: PeerConfiguration(rateLimits: KeyedPath.limits, trustsRemoteDescription: true, seed: 5),
            wallClock: WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32)), now: now)
    }

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
        var random = SeededGenerator(seed: 3)
        let parameters = OfferParameters(address: source)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let first = try OfferAnswer.answer(offer: offer, policy: Self.policy, using: &random)
        let former = try OfferAnswer.complete(pending: pending, answer: first.answer)
        let peer = try makePeer(first.session)
        #expect(try report(former, to: peer) == [.accepted, .accepted])

        // Without the offer before, the keys are new.
        let (other, otherPending) = OfferAnswer.makeOffer(parameters, using: &random)
        let second = try OfferAnswer.answer(offer: other, policy: Self.policy, previous: first, using: &random)
        let present = try OfferAnswer.complete(pending: otherPending, answer: second.answer)
        try peer.update(session: second.session, now: now)
        #expect(try report(present, to: peer) == [.accepted, .accepted])
        #expect(try report(former, to: peer) == [.unauthenticated, .unauthenticated])
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
        #expect(remote.peer.lines.last?.rtpDestination == source)
    }

    @Test("a stream that a further offer adds to a bundle goes to where the others go")
    func addedStream() throws {
        var random = SeededGenerator(seed: 4)
        var parameters = OfferParameters(address: TransportAddress(ipv4: 0, port: 9))
        parameters.audio = nil
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let first = try OfferAnswer.answer(offer: offer, policy: Self.policy, using: &random)
        let peer = try makePeer(first.session)
        #expect(peer.lines.first?.rtpDestination == nil)
        #expect(try report(OfferAnswer.complete(pending: pending, answer: first.answer), to: peer) == [.accepted])
        #expect(peer.lines.first?.rtpDestination == source)

        parameters.audio = OfferParameters.Audio(direction: .receiveOnly)
        let (further, _) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
        let second = try OfferAnswer.answer(offer: further, policy: Self.policy, previous: first, using: &random)
        try peer.update(session: second.session, now: now)
        #expect(peer.lines.count == 2)
        #expect(peer.lines.audio?.rtpDestination == source)
        #expect(peer.lines.audio?.rtcpDestination == source)
    }

    @Test("feedback comes from a stream that is there, when a further offer takes the first one away")
    func feedbackSource() throws {
        var random = SeededGenerator(seed: 6)
        var parameters = OfferParameters(address: source)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let first = try OfferAnswer.answer(offer: offer, policy: Self.policy, using: &random)
        let peer = try makePeer(first.session)
        parameters.audio = nil
        let (further, furtherPending) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
        let second = try OfferAnswer.answer(offer: further, policy: Self.policy, previous: first, using: &random)
        try peer.update(session: second.session, now: now)
        let media = try #require(try OfferAnswer.complete(pending: furtherPending, answer: second.answer).video)
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
        let expected = try #require(second.session.video).localSSRC
        #expect(sources == [expected])
    }

    @Test("a line that a further offer disables sends no reports, until another offer takes it up again")
    func disabledLine() throws {
        var random = SeededGenerator(seed: 7)
        var parameters = OfferParameters(address: source, bundle: false)
        var (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        var result = try OfferAnswer.answer(offer: offer, policy: Self.policy, using: &random)
        var keys = try #require(try OfferAnswer.complete(pending: pending, answer: result.answer).audio?.keys)
        let peer = try makePeer(result.session)
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

        parameters.audio = nil
        (offer, pending) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
        result = try OfferAnswer.answer(offer: offer, policy: Self.policy, previous: result, using: &random)
        try peer.update(session: result.session, now: now)
        #expect(try reportCount() == 0)

        parameters.audio = OfferParameters.Audio()
        (offer, pending) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
        result = try OfferAnswer.answer(offer: offer, policy: Self.policy, previous: result, using: &random)
        keys = try #require(try OfferAnswer.complete(pending: pending, answer: result.answer).audio?.keys)
        try peer.update(session: result.session, now: now)
        #expect(try reportCount() == 1)
    }

    @Test("streams that come and go more often than a key has places for sources still get reports")
    func manySources() throws {
        var random = SeededGenerator(seed: 8)
        var parameters = OfferParameters(address: source)
        var (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        var result = try OfferAnswer.answer(offer: offer, policy: Self.policy, using: &random)
        let peer = try makePeer(result.session)
        var sources: Set<UInt32> = []
        for round in 0...(2 * SRTPContext.maximumSourceCount) {
            let isShared = round.isMultiple(of: 2)
            parameters.screenShare = isShared ? OfferParameters.Video(direction: .sendOnly) : nil
            (offer, pending) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
            result = try OfferAnswer.answer(offer: offer, policy: Self.policy, previous: result, using: &random)
            try peer.update(session: result.session, now: now)
            if let media = result.session.screenShare { sources.insert(media.localSSRC) }
            peer.sendReports(now: now)
            while peer.pollTransmit(now: now) != nil {}
        }
        #expect(sources.count > SRTPContext.maximumSourceCount)
        #expect(peer.statistics(now: now).counters.protectFailures == 0)
    }

    @Test("an address that a further offer changes is followed if it is trusted, and one that it keeps is not")
    func changedAddress() throws {
        var random = SeededGenerator(seed: 5)
        var parameters = OfferParameters(address: source.with(port: 20_001))
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let first = try OfferAnswer.answer(offer: offer, policy: Self.policy, using: &random)
        let peer = try makePeer(first.session)
        func sends(to address: TransportAddress) -> Bool {
            peer.lines.allSatisfy { $0.rtpDestination == address && $0.rtcpDestination == address }
        }
        #expect(sends(to: source.with(port: 20_001)))
        // A packet shows another address.
        _ = try report(OfferAnswer.complete(pending: pending, answer: first.answer), to: peer)
        #expect(sends(to: source))
        try peer.update(session: first.session, now: now)
        #expect(sends(to: source))

        parameters.address = source.with(port: 20_002)
        let (further, _) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
        let second = try OfferAnswer.answer(offer: further, policy: Self.policy, previous: first, using: &random)
        #expect(second.session.video?.keys == first.session.video?.keys)
        try peer.update(session: second.session, trustsDescription: false, now: now)
        #expect(sends(to: source))
        try peer.update(session: first.session, trustsDescription: false, now: now)
        try peer.update(session: second.session, now: now)
        #expect(sends(to: source.with(port: 20_002)))
    }
}
