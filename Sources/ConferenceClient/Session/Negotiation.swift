import CongestionControl
import Foundation
import HTTPTransfer
import MediaCore
import SDP
import SecureTransport

/// The result of a join: the session, and the data for leaving.
struct Negotiation: Sendable {
    var session: NegotiatedSession
    /// The participant's path at the relay.
    var location: String
    /// The end of the location: the relay's id of the participant, a dot, and the key that only this client has.
    var sessionKey: String { location.split(separator: "/").last.map { String($0) } ?? "" }
    /// The relay's id of the participant.
    var participantID: String { String(sessionKey.prefix { $0 != "." }) }

    /// Returns the room's address with the participant's own proof: a room with a PIN lets only its members read it.
    func memberURL(of room: RoomURL) -> RoomURL {
        var url = room
        url.token = sessionKey
        return url
    }

    /// The time at which the offer was posted.
    var posted: MonotonicInstant
    /// With which the room is moderated, if the client began it; nil: it did not.
    var moderatorKey: String?
    /// The id and key by which the client is the same participant at another relay of the cluster; nil: it has none.
    var rejoinKey: String?
    /// The room at other relays of the cluster, to go to if this one dies.
    var alternates: [RoomURL] = []

    /// Another relay has the room.
    struct Redirection: Error {
        var url: RoomURL
    }

    /// Makes the offer of a client that receives at `address`.
    ///
    /// - Parameters:
    ///   - sources: The client's sources. A sender of encoded frames cannot follow a rate, so it asks for no feedback
    ///     on it: frames that were held back would come late and in bursts.
    ///   - fingerprint: The fingerprint of the certificate for the DTLS handshake; nil for keys in the descriptions.
    static func offer(
        _ options: JoinOptions, sources: (video: Bool, followsBitRate: Bool, audio: Bool), address: TransportAddress,
        fingerprint: CertificateFingerprint?
    ) -> (offer: SessionDescription, pending: PendingOffer) {
        // Keys and credentials are made from the system's randomness, whatever the seed.
        var generator = SystemRandomNumberGenerator()
        let transport =
            fingerprint.map { .dtls(fingerprint: $0, credentials: ICECredentials(using: &generator)) }
            ?? OfferParameters.Transport.sdes(options.srtpProfiles)
        var parameters = OfferParameters(address: address, transport: transport)
        parameters.video = .init(direction: MediaDirection(sends: sources.video, receives: options.receives))
        if !(options.followsDemand && sources.followsBitRate) {
            parameters.video?.feedback.tmmbr = false
            parameters.video?.feedback.remb = false
        }
        parameters.feedbackInterval = FeedbackTiming.statedInterval
        parameters.audio = .init(direction: MediaDirection(sends: sources.audio, receives: options.receives))
        if options.isSilent { parameters.renounceFeedback() }
        return OfferAnswer.makeOffer(parameters, using: &generator)
    }

    /// Posts an offer and completes it with the answer.
    ///
    /// - Throws: `ClientError.relayUnreachable` or `.relayRefused`.
    static func join(
        _ options: JoinOptions, offer: SessionDescription, pending: PendingOffer
    ) async throws -> Negotiation {
        var posted = ClientClock.now()
        let sdp = offer.encode()
        let signalling = Signalling(options.url)
        var response = try await signalling.exchange(
            .post, options.url.joinPath(name: options.name, selfView: options.showsSelfView),
            contentType: "application/sdp", body: sdp, pin: options.pin)
        try throwRedirection(in: response, options)
        while response.status == 202 {
            options.onWaiting()
            let ticket = try await Lobby(url: options.url)
                .admission(at: response.head.values(of: "Location").first.flatMap(Self.path(of:)))
            posted = ClientClock.now()
            response = try await signalling.exchange(
                .post, options.url.joinPath(name: options.name, selfView: options.showsSelfView, ticket: ticket),
                contentType: "application/sdp", body: sdp, pin: options.pin)
            try throwRedirection(in: response, options)
        }
        func refusal(_ reason: String) -> ClientError {
            .relayRefused(url: "\(options.url)", status: response.status, reason: reason)
        }
        guard response.status == 201 else {
            throw ClientError.relayRefused(
                url: "\(options.url)", status: response.status, reason: response.refusal,
                retryAfter: Self.retryTime(response.head.values(of: "Retry-After").first))
        }
        guard let location = response.head.values(of: "Location").first, let path = Self.path(of: location) else {
            throw refusal("its answer has no Location")
        }
        do {
            let answer = try SessionDescription(parsing: Self.text(of: response))
            let session = try OfferAnswer.complete(pending: pending, answer: answer)
            guard !session.media.isEmpty else { throw refusal("it accepts neither our video nor our audio") }
            return Negotiation(
                session: session, location: path, posted: posted,
                moderatorKey: response.head.values(of: "Moderator-Key").first,
                rejoinKey: response.head.values(of: "Rejoin-Key").first,
                alternates: Self.alternates(of: options.url, in: response.head.values(of: "Link")))
        } catch {
            // The others would see a participant without media until the relay misses it.
            await signalling.end(path)
            guard let error = error as? SDPError else { throw error }
            throw refusal("its answer cannot be used: \(error)")
        }
    }

    /// Throws where an answer sends the client to (RFC 9110, section 15.4.8).
    private static func throwRedirection(in response: HTTPClient.Answer, _ options: JoinOptions) throws {
        guard response.status == 307 || response.status == 308 else { return }
        let location = response.head.values(of: "Location").first ?? ""
        guard let url = options.url.relocated(to: location) else {
            throw ClientError.relayRefused(
                url: "\(options.url)", status: response.status,
                reason: "it sends us to '\(location.prefix(200))', which is no room's address by \(options.url.scheme)")
        }
        throw Redirection(url: url)
    }

    /// The room at other relays: `Link: <…/rooms/demo/participants>; rel="alternate"`.
    static func alternates(of url: RoomURL, in links: [String]) -> [RoomURL] {
        links.compactMap { link in
            guard link.contains("rel=\"alternate\""), let match = link.firstMatch(of: #/<([^<>\s]+)>/#) else {
                return nil
            }
            return url.relocated(to: String(match.1))
        }
    }

    /// Returns the time in a `Retry-After` field: whole seconds. Its other form, a date, is ignored.
    static func retryTime(_ field: String?) -> Duration? {
        guard let field, let seconds = Int32(field), seconds >= 0 else { return nil }
        return .seconds(Int64(seconds))
    }

    /// The path of a `Location`, which may be a whole URL.
    private static func path(of location: String) -> String? {
        guard let parts = URLComponents(string: location), parts.percentEncodedPath.hasPrefix("/") else { return nil }
        return parts.percentEncodedPath
    }

    private static func text(of response: HTTPClient.Answer) -> String {
        String(decoding: response.body, as: UTF8.self)
    }
}

extension OfferParameters {
    /// Leaves out of the offer everything for which the offerer would have to send RTCP.
    fileprivate mutating func renounceFeedback() {
        usesFeedbackProfile = false
        headerExtensions = []
        feedbackInterval = nil
        video?.feedback = .none
        video?.flexFECPayloadType = nil
        audio?.feedback = .none
        audio?.redundancyPayloadType = nil
    }
}
