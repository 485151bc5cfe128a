import HTTPTransfer
public import RoomAPI

extension RoomController {
    /// Does what is asked for. Members are named as they are called, or by their ids.
    ///
    /// - Throws: `ClientError.usage` for names of nobody or of several, `.relayUnreachable` or `.relayRefused`.
    public func moderate(_ request: Moderation) async throws {
        switch request {
        case .member(let change, let name):
            try await put(change, to: "\(url.path)/participants/\(try await id(of: name))/moderation")
        case .remove(let name, let mayReturn):
            let query = mayReturn ? "?may-return=true" : ""
            try await delete("\(url.path)/participants/\(try await id(of: name))\(query)")
        case .spotlight(let name):
            var body: [String: String] = [:]
            if let name { body["participant"] = try await id(of: name) }
            try await put(body, to: "\(url.path)/spotlight")
        case .lowerHands: try await delete("\(url.path)/hands")
        case .entry(let entry): try await put(entry, to: "\(url.path)/entry")
        case .answer(let name, let isAdmitted):
            try await put(["admit": isAdmitted], to: "\(url.path)/lobby/\(try await waitingID(of: name))")
        case .end: try await delete(url.path)
        }
    }

    /// A moderator's request.
    public enum Moderation: Sendable {
        case member(MemberModeration, name: String)
        case remove(name: String, mayReturn: Bool)
        case spotlight(name: String?)
        case lowerHands
        case entry(RoomEntry)
        case answer(name: String, isAdmitted: Bool)
        case end
    }

    private struct Waiting: Decodable {
        var waiting: [WaitingPerson]
    }

    /// The people in the lobby.
    public func waiting() async throws -> [WaitingPerson] {
        try await get("\(url.path)/lobby", as: Waiting.self).waiting
    }

    private func id(of name: String) async throws -> String { try await report().id(of: name) }

    private func waitingID(of name: String) async throws -> String {
        try await waiting().id(of: name, "in the lobby")
    }
}
