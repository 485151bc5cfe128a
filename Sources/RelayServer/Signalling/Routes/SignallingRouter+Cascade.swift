import Cluster
import Conference
import Foundation
import HTTPTypes
import Hummingbird

/// Requests of other relays that have a room of this one.
///
/// Messages about participants come by HTTP, beside the media's path: a whole state replaces the one before, so that a
/// lost or repeated message does no harm, and its length has no bound in a datagram.
extension SignallingRouter {
    var cascadeRoutes: [Route] {
        [
            Route(CascadeRequests.path, [.init(.post, .relaySignature, makeLink)]),
            Route("\(CascadeRequests.path)/:link", [.init(.put, .relaySignature, takeLinkState)]),
            Route(
                "\(CascadeRequests.path)/:link/avatars/:participant", [.init(.get, .relaySignature, showAvatar)]),
        ]
    }

    /// Answers a relay that makes a link.
    private func makeLink(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let opening = try await signed(CascadeRequests.Opening.self, request, context)
        guard let cluster, opening.from != cluster.node else {
            throw Problem(.badRequest, "the request names this relay as its sender")
        }
        guard await cluster.epoch(of: opening.room) == opening.epoch else {
            throw Problem(
                .conflict, "this relay does not know the room, or another epoch of it; try again in a second",
                headers: [.retryAfter: "1"])
        }
        let answer: CascadeOffer
        do {
            answer = try await driver.act { relay, now throws(CascadeError) in
                try relay.answerLink(room: opening.room, from: opening.from.rawValue, offer: opening.offer, now: now)
            }
        } catch {
            throw Problem(error)
        }
        return try .json(answer, status: .created)
    }

    /// Takes what the other side of a link has to tell.
    private func takeLinkState(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let telling = try await signed(CascadeRequests.Telling.self, request, context)
        let link = try context.parameters.require("link")
        let missing: [Relay.MissingAvatar]
        do {
            missing = try await driver.act { relay, now throws(CascadeError) in
                try relay.receive(
                    telling.state, room: telling.room, from: telling.from.rawValue, link: link, now: now)
                return relay.missingAvatars(inRoom: telling.room, from: telling.from.rawValue)
            }
        } catch {
            throw Problem(error)
        }
        if !missing.isEmpty { await cluster?.links.fetch(missing, room: telling.room, from: telling.from, link: link) }
        return Response(status: .noContent)
    }

    /// Hands out a participant's avatar.
    private func showAvatar(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try await signedBody(request, context)
        let link = try context.parameters.require("link")
        let participant = try context.parameters.require("participant")
        guard let file = await driver.ask({ $0.avatarFile(ofParticipant: participant, forLink: link) }) else {
            throw Problem(.notFound, "there is no such avatar")
        }
        return Response(
            status: .ok, headers: [.contentType: SignallingMediaType.png],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file)))
    }

    /// The message of a request that a relay of this cluster has signed.
    private func signed<Message: Decodable>(
        _: Message.Type, _ request: Request, _ context: SignallingContext
    ) async throws -> Message {
        let body = try await signedBody(request, context)
        do {
            return try JSONDecoder().decode(Message.self, from: Data(body))
        } catch {
            throw Problem(.badRequest, "not a message of a link between relays: \(error)")
        }
    }

    /// The body of a request that a relay of this cluster has signed.
    private func signedBody(_ request: Request, _ context: SignallingContext) async throws -> [UInt8] {
        guard let cluster else { throw Problem(.notFound, "this relay is in no cluster") }
        let line = "\(request.method.rawValue) \(request.uri.path)"
        let signature = request.headers[.relaySignature] ?? ""
        // Nobody else's body is read.
        guard let secret = await cluster.secret,
            let size = try await sizeOfBody(request, line: line, signature: signature, secret, cluster)
        else { throw try refusal(ofStranger: context) }
        let body = try await request.bytes(upTo: size)
        guard
            secret.isSignature(
                signature, of: line, body: body, node: cluster.node, time: Date.now.timeIntervalSince1970)
        else { throw try refusal(ofStranger: context) }
        return body
    }

    /// The bytes of body that are read of a request whose body has yet to come; nil: no relay of this cluster has made
    /// the request.
    private func sizeOfBody(
        _ request: Request, line: String, signature: String, _ secret: ClusterSecret, _ cluster: ClusterService
    ) async throws(Problem) -> Int? {
        let isTimely = ClusterSecret.mayBeSignature(signature, time: Date.now.timeIntervalSince1970)
        guard let head = request.headers[.relayHeadSignature] else {
            // The last version does not sign heads. Its signature cannot be checked before the body is there.
            guard isTimely, await !cluster.allSignHeads else { return nil }
            return CascadeRequests.bodySize
        }
        guard let size = secret.bodySize(ofHeadSignature: head, of: line, signature: signature, node: cluster.node)
        else { return nil }
        guard isTimely else {
            throw Self.unauthorized("the request is old, or the clocks of the two relays differ: synchronize them")
        }
        return min(size, CascadeRequests.bodySize)
    }

    /// Refuses a request that no relay has signed. Requests of relays are not counted; guesses are.
    private func refusal(ofStranger context: SignallingContext) throws -> Problem {
        if let subject = context.quotaSubject { try quotas.admit(.join, of: subject, now: now()) }
        return Self.unauthorized(
            "this is for relays of the cluster: Relay-Signature or Relay-Head-Signature is missing, wrong or too old")
    }

    private static func unauthorized(_ detail: String) -> Problem {
        Problem(.unauthorized, detail, headers: [.wwwAuthenticate: "Relay-Signature"])
    }
}

extension Problem {
    /// Makes the HTTP answer for a refused message of a link.
    init(_ error: CascadeError) {
        let status: HTTPResponse.Status =
            switch error {
            case .noSuchRoom, .noSuchLink: .notFound
            case .invalid: .unprocessableContent
            case .isKnown: .conflict
            case .tooManyMessages: .tooManyRequests
            case .tooManyLinks, .resources: .serviceUnavailable
            }
        self.init(status, error.description)
    }
}

extension HTTPField.Name {
    /// Proves that a relay of the cluster has made a request.
    static let relaySignature = known("Relay-Signature")
    /// Proves the same before the body has come.
    static let relayHeadSignature = known("Relay-Head-Signature")
}
