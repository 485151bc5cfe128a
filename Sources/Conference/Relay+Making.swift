import CongestionControl
import EncoderSharing
import FlightRecording
import MediaCore
import PeerConnection
import RoomAPI
import SDP
import SecureTransport
import VideoCoding

/// Makes a participant for a join, with its connection, its controller and its pipeline.
extension Relay {
    /// The rate for a receiver without congestion feedback, within its limits.
    private static let startWithoutFeedback = BitRate.megabits(1)

    func makeParticipant(
        _ request: JoinRequest, negotiation: Negotiation, now: MonotonicInstant
    ) throws(JoinError) -> Participant {
        let session = negotiation.session
        let limits = rateLimits(for: session)
        var peerConfiguration = PeerConfiguration(
            rateLimits: limits,
            trustsRemoteDescription: trustsDescription(of: session, from: request.signallingPeer, for: nil, now: now),
            seed: random.next(), certificate: configuration.certificate)
        peerConfiguration.silenceLimit = configuration.silenceLimit
        let publicID = idToKeep(request) ?? makePublicID()
        let peer: PeerConnection
        do {
            peer = try PeerConnection(
                session: session, configuration: peerConfiguration, wallClock: wallClock,
                controller: makeController(
                    limits: limits, room: request.room, name: request.name, publicID: publicID,
                    address: request.signallingPeer, now: now),
                now: now)
        } catch {
            throw .resources("the SRTP session could not be made: \(error)")
        }
        let participant = Participant(
            id: nextEndpointID(), publicID: publicID, name: request.name, room: request.room, role: request.role,
            grants: request.grants,
            selfView: request.selfView ?? configuration.selfView,
            hasAskedForSelfView: request.selfView != nil, address: request.signallingPeer, client: request.client,
            peer: peer, negotiation: negotiation, policy: policy(for: request),
            mayStaySilent: mayStaySilent(request, session: session, now: now),
            queues: nextQueues(), now: now)
        return participant
    }

    /// The limits of the rate that a receiver is sent, with those that its offer asks for.
    func rateLimits(for session: NegotiatedSession) -> RateLimits {
        var limits = configuration.rateLimits
        let caps = [
            session.maximumBitRate, session.video?.maximumBitRate,
            session.video.flatMap { DownlinkFormat($0).maximumBitRate },
        ]
        if let cap = caps.compactMap(\.self).min() {
            limits = RateLimits(
                minimum: min(limits.minimum, cap), start: min(limits.start, cap), maximum: min(limits.maximum, cap))
        }
        guard !session.describesPath else { return limits }
        // Nothing will ever show that this path carries more.
        return RateLimits(
            minimum: limits.minimum, start: min(max(limits.start, Self.startWithoutFeedback), limits.maximum),
            maximum: limits.maximum)
    }

    /// Makes the controller of a participant's downlink.
    ///
    /// - Parameter address: The address from which the participant joined.
    func makeController(
        limits: RateLimits, room: String, name: String, publicID: String, address: TransportAddress?,
        now: MonotonicInstant
    ) -> any CongestionController {
        let controller = configuration.congestionController.makeController(limits: limits, now: now)
        let isIPv6 = address?.isIPv6 ?? false
        let recorder = configuration.makeFlightRecorder?(
            FlightHeader(
                controller: configuration.congestionController.rawValue, limits: limits, start: now,
                packetOverhead: DataSize(bytes: isIPv6 ? 48 : 28), room: room, participant: name,
                participantID: publicID))
        return recorder.map { RecordingController(controller, recorder: $0) } ?? controller
    }

    /// Makes a member whose client did not join here: one at another relay, or a player. There is nothing to negotiate
    /// with it.
    ///
    /// - Parameter client: The address that counts as its client's; nil if there is none.
    func makeMember(
        _ publicID: String, name: String, room: String, role: ParticipantRole, grants: MemberGrants,
        client: TransportAddress?, peer: PeerConnection, now: MonotonicInstant
    ) -> Participant {
        let member = Participant(
            id: nextEndpointID(), publicID: publicID, name: name, room: room, role: role, grants: grants,
            selfView: .never, hasAskedForSelfView: false, address: nil, client: client, peer: peer,
            negotiation: Negotiation(
                answer: SessionDescription(
                    origin: .init(sessionID: "0", addressType: "IP4", address: "0.0.0.0")), session: peer.session),
            policy: AnswerPolicy(publicAddress: Self.noAddress), mayStaySilent: false, queues: nextQueues(), now: now)
        member.connection = .connected
        return member
    }

    /// Returns the video pipeline for a session; nil without video.
    func makeDownlink(for session: NegotiatedSession, start: BitRate) -> DownlinkPipeline? {
        guard let video = session.video, video.sends else { return nil }
        return DownlinkPipeline(
            format: DownlinkFormat(video).encoding(
                canvas: configuration.canvas, frameRate: configuration.frameRate, bitRate: start,
                preset: configuration.encoderPreset, maximumSliceSize: PeerConfiguration.maximumPayloadSize),
            bitRate: start)
    }

    /// The id that a participant had on another relay, unless somebody here has it.
    private func idToKeep(_ request: JoinRequest) -> String? {
        request.rejoiningAs.flatMap { id in rooms[request.room]?.localParticipant(publicID: id) == nil ? id : nil }
    }

    func makePublicID() -> String { .randomID(length: 12, using: &random) }

    func policy(for request: JoinRequest) -> AnswerPolicy {
        let direction = MediaDirection(sends: request.role != .publish, receives: request.role != .watch)
        var policy = AnswerPolicy(
            publicAddress: Self.noAddress, certificateFingerprint: configuration.certificate?.fingerprint,
            videoDirection: direction, audioDirection: direction)
        policy.feedbackInterval = FeedbackTiming.statedInterval
        nameAddresses(in: &policy, for: request.signallingPeer)
        return policy
    }

    /// The address that answers name if the relay has none.
    private static let noAddress = TransportAddress(ipv4: 0x7f00_0001, port: 7000)

    /// Lets answers name the addresses that the relay has by now, first the one that fits the client.
    ///
    /// - Parameter peer: The address from which the client joined.
    func nameAddresses(in policy: inout AnswerPolicy, for peer: TransportAddress?) {
        let wantsIPv6 = peer?.isIPv6 ?? false
        let address = mediaAddresses.first { $0.isIPv6 == wantsIPv6 } ?? mediaAddresses.first
        policy.publicAddress = address ?? Self.noAddress
        policy.alternativeAddresses = mediaAddresses.filter { $0 != address }
    }
}
