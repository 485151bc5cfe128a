import CongestionControl
public import MediaCore
import PeerConnection
import RoomAPI
public import SDP
import SecureTransport

extension Relay {
    /// Answers a further offer of a participant: it may add, change and end streams, and new credentials restart ICE.
    /// If it throws, nothing has changed.
    public func renegotiate(
        room id: String, participant publicID: String, offer: ReceivedOffer, now: MonotonicInstant
    ) throws(JoinError) -> JoinResult {
        guard !isClosed else { throw .closed }
        guard let (room, participant) = member(publicID, of: id) else { throw .noSuchParticipant }
        if let seconds = participant.changeLimits.negotiation.secondsToWait(now: now) {
            throw .tooManyOffers(retryAfter: seconds)
        }
        let before = participant.negotiation
        var policy = participant.policy
        nameAddresses(in: &policy, for: participant.address)
        let negotiation = try negotiate(offer, policy: policy, after: before)
        try Self.checkScreenShare(
            in: negotiation.session, by: participant.grants, mayHaveShared: participant.sendsScreenShare)
        do {
            let trusts = trustsDescription(
                of: negotiation.session, from: participant.address, for: participant, now: now)
            try participant.peer.update(session: negotiation.session, trustsDescription: trusts, now: now)
        } catch {
            throw .resources("the SRTP session could not be made: \(error)")
        }
        let limits = rateLimits(for: negotiation.session)
        participant.peer.setRateLimits(limits, now: now)
        if before.session.hasFeedbackOnPackets, !negotiation.session.hasFeedbackOnPackets {
            participant.peer.replaceController(now: now) { start in
                makeController(
                    limits: RateLimits(minimum: limits.minimum, start: start, maximum: limits.maximum),
                    room: id, name: participant.name, publicID: publicID, address: participant.address, now: now)
            }
        }
        adopt(negotiation, of: participant)
        demultiplexer.sourcesAnnounced(by: participant)
        if negotiation.session.video?.localSSRC != before.session.video?.localSSRC {
            // Nobody's packets are forwarded in the stream that there is now.
            room.forwarding.reset(participant.id)
        }
        if !negotiation.session.wantsSameVideo(as: before.session) {
            // Another stream begins with a keyframe, another decoder at the receiver needs another pipeline, and
            // without video there is none.
            room.encoders.setDownlink(
                makeDownlink(for: negotiation.session, start: participant.peer.videoBitRate), of: participant.id)
        }
        room.sessionChanged(of: participant, now: now)
        service(participant, now: now)
        return participant.joinResult
    }

    /// Answers an offer.
    ///
    /// - Parameter before: What it continues; nil for a join.
    func negotiate(
        _ offer: ReceivedOffer, policy: AnswerPolicy, after before: Negotiation? = nil
    ) throws(JoinError) -> Negotiation {
        do throws(SDPError) {
            let (answer, session) = try OfferAnswer.answer(
                offer: offer.description.get(), policy: policy, previous: before.map { ($0.answer, $0.session) },
                using: &random)
            return Negotiation(answer: answer, session: session)
        } catch {
            throw .offer(error)
        }
    }

    /// Refuses a screen share that the role does not permit: nobody would see it, and the client would not know.
    ///
    /// - Parameter mayHaveShared: True if the client may have shared it before, with another role. A call does not end
    ///   because a moderator has changed that.
    static func checkScreenShare(
        in session: NegotiatedSession, by grants: MemberGrants, mayHaveShared: Bool
    ) throws(JoinError) {
        guard session.screenShare?.receives == true, !mayHaveShared, !grants.permissions.contains(.screen) else {
            return
        }
        throw .mayNotShareScreen
    }

    /// Takes a participant's update of its path (RFC 9725, section 4.3): new credentials restart ICE. Its candidates
    /// are ignored, because a lite agent learns addresses from checks.
    ///
    /// - Parameter ifMatch: The entity tag of the ICE session, or `*` for any; nil for the present one, which permits
    ///   only candidates.
    /// - Returns: After a restart our new credentials and candidates; nil if there is nothing to answer. The same
    ///   restart for any session gets the same answer again, because the first one may be lost.
    public func trickle(
        room id: String, participant publicID: String, fragment: TrickleICEFragment, ifMatch: String?,
        now: MonotonicInstant
    ) throws(TrickleError) -> TrickleICEFragment? {
        guard let (_, participant) = member(publicID, of: id) else { throw .noSuchParticipant }
        var negotiation = participant.negotiation
        guard var transport = negotiation.session.transport else { throw .notSupported }
        guard ifMatch == nil || ifMatch == "*" || ifMatch == negotiation.entityTag else { throw .sessionReplaced }
        guard let credentials = fragment.credentials else { return nil }
        guard credentials != transport.remoteCredentials else {
            return ifMatch == "*" ? negotiation.restartAnswer : nil
        }
        if let seconds = participant.changeLimits.negotiation.secondsToWait(now: now) {
            throw .tooManyRestarts(retryAfter: seconds)
        }
        transport.remoteCredentials = credentials
        transport.localCredentials = ICECredentials(using: &random)
        negotiation.session.transport = transport
        negotiation.restartAnswer = restartAnswer(transport.localCredentials, session: negotiation.session)
        participant.peer.update(transport: transport, now: now)
        adopt(negotiation, of: participant)
        service(participant, now: now)
        return negotiation.restartAnswer
    }

    private func member(_ publicID: String, of room: String) -> (Room, Participant)? {
        guard let room = rooms[room], let participant = room.localParticipant(publicID: publicID)
        else { return nil }
        return (room, participant)
    }

    private func adopt(_ negotiation: Negotiation, of participant: Participant) {
        let before = participant.negotiation.session.transport?.localCredentials
        participant.negotiation = negotiation
        guard let credentials = negotiation.session.transport?.localCredentials, credentials != before else { return }
        paths.add(participant, usernameFragment: credentials.usernameFragment)
    }

    private func restartAnswer(_ credentials: ICECredentials, session: NegotiatedSession) -> TrickleICEFragment {
        let mids = session.media.compactMap(\.mid)
        let first = session.media.first
        return TrickleICEFragment(
            credentials: credentials, isLite: true, options: ["ice2"], bundle: session.isBundled ? mids : [],
            media: [
                TrickleICEFragment.Media(
                    kind: first?.kind == .audio ? .audio : .video, mid: first?.mid ?? "0",
                    candidates: ICECandidate.hostCandidates(mediaAddresses), isComplete: true)
            ])
    }

    // MARK: Trust in an offer's addresses

    /// Returns true if media may go to the offer's addresses before any authentic packet came from there: only to the
    /// host that made the offer, so that nobody can direct media at a third party.
    ///
    /// - Parameters:
    ///   - signallingPeer: The address from which the join came.
    ///   - participant: The participant whose offer it is; nil before its join.
    func trustsDescription(
        of session: NegotiatedSession, from signallingPeer: TransportAddress?, for participant: Participant?,
        now: MonotonicInstant
    ) -> Bool {
        // ICE finds out where to send.
        guard session.transport == nil, let signallingPeer else { return false }
        let addresses = session.media.flatMap { [$0.remoteRTPAddress, $0.remoteRTCPAddress] }.compactMap(\.self)
        // Some senders (ffmpeg) describe their destination, which is this relay.
        return addresses.allSatisfy {
            $0.host == signallingPeer.host && !mediaAddresses.contains($0)
                && !isTaken($0, from: participant, now: now)
        }
    }

    /// Returns true if a receiver that sends nothing gets media: if the operator allows it, or the offer's addresses
    /// are on this machine. From elsewhere its disappearance could not be noticed.
    func mayStaySilent(
        _ request: JoinRequest, session: NegotiatedSession, now: MonotonicInstant
    ) -> Bool {
        guard configuration.allowsSilentReceivers || request.signallingPeer?.isLoopback == true else { return false }
        return trustsDescription(of: session, from: request.signallingPeer, for: nil, now: now)
    }
}

extension Participant {
    /// The last offer's answer, in the form for HTTP.
    var joinResult: JoinResult {
        JoinResult(
            participantID: publicID, answer: negotiation.answer.encode(), entityTag: negotiation.entityTag)
    }
}

extension NegotiatedSession {
    /// Returns true if the video encoding of another session of the same participant can be used here too.
    fileprivate func wantsSameVideo(as other: NegotiatedSession) -> Bool {
        video?.sends == other.video?.sends && video?.localSSRC == other.video?.localSSRC
            && video?.h264 == other.video?.h264 && video?.feedback == other.video?.feedback
    }
}
