import Conference
import HTTPTypes
import Hummingbird
import SDP
import SecureTransport

/// `PATCH` of a participant's location: candidates and ICE restarts (RFC 9725, section 4.3), or another offer.
extension SignallingRouter {
    func update(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        switch request.mediaType {
        case TrickleICEFragment.mediaType:
            return try await trickle(request, room: room.rawValue, participant: participant)
        case SignallingMediaType.sdp:
            return try await renegotiate(request, room: room.rawValue, participant: participant, context)
        default:
            throw Problem(
                .unsupportedMediaType,
                "the body must be candidates (application/trickle-ice-sdpfrag) or an SDP offer (application/sdp)",
                headers: [.acceptPatch: SignallingMediaType.updates])
        }
    }

    private func trickle(_ request: Request, room: String, participant: String) async throws -> Response {
        let text = try await request.text()
        // RFC 9725, sections 4.3.1 and 4.3.2: an old candidate must not reach a new session.
        guard let condition = EntityTagList(request.headers[.ifMatch]) else {
            throw Problem(
                .preconditionRequired,
                "the ICE session is not named: send If-Match with the ETag of the answer, or * for a restart")
        }
        let fragment: TrickleICEFragment
        do {
            fragment = try TrickleICEFragment(parsing: text)
        } catch {
            throw Problem(error)
        }
        guard let answer = try await trickle(fragment, under: condition, room: room, participant: participant) else {
            return Response(status: .noContent)
        }
        var response = Response.text(answer.encode(), type: TrickleICEFragment.mediaType)
        response.headers[.eTag] = answer.credentials?.entityTag
        return response
    }

    /// Passes the fragment to the relay, for each tag that the client accepts.
    private func trickle(
        _ fragment: TrickleICEFragment, under condition: EntityTagList, room: String, participant: String
    ) async throws -> TrickleICEFragment? {
        let tags =
            switch condition {
            case .any: ["*"]
            case .tags(let tags): tags
            }
        for tag in tags {
            do {
                return try await driver.trickle(
                    room: room, participant: participant, fragment: fragment, ifMatch: tag)
            } catch TrickleError.sessionReplaced {
                continue
            } catch {
                throw Problem(error)
            }
        }
        throw Problem(TrickleError.sessionReplaced)
    }

    private func renegotiate(
        _ request: Request, room: String, participant: String, _ context: SignallingContext
    ) async throws -> Response {
        let offer = try await request.text()
        try checkKeyExchange(offer: offer, of: request, context)
        let result: JoinResult
        do {
            result = try await driver.renegotiate(
                room: room, participant: participant, offer: ReceivedOffer(offer))
        } catch {
            throw Problem(error)
        }
        var response = Response.text(result.answer, type: SignallingMediaType.sdp)
        response.headers[.eTag] = result.entityTag
        return response
    }
}

extension ICECredentials {
    /// The relay's credentials name the ICE session that they are for.
    var entityTag: String { "\"\(usernameFragment)\"" }
}

extension Problem {
    /// Makes the HTTP answer for refused candidates or a refused restart.
    init(_ error: TrickleError) {
        let status: HTTPResponse.Status =
            switch error {
            case .noSuchParticipant: .notFound
            case .sessionReplaced: .preconditionFailed
            case .notSupported: .notImplemented
            case .tooManyRestarts: .tooManyRequests
            }
        var headers: HTTPFields = [:]
        if case .tooManyRestarts(let seconds) = error { headers[.retryAfter] = "\(seconds)" }
        self.init(status, error.description, headers: headers)
    }
}
