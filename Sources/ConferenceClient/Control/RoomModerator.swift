import Foundation
public import NIOCore
import NIOHTTP1
public import RoomAPI

/// Moderates a room, by the relay's HTTP interface.
public struct RoomModerator: Sendable {
    private let controller: RoomController
    private let path: String

    public init(url: RoomURL, on eventLoop: any EventLoop) {
        controller = RoomController(url: url, on: eventLoop)
        path = url.path
    }

    /// Does what is asked for. Members are named as they are called, or by their ids.
    ///
    /// - Throws: `ClientError.usage` for names of nobody or of several, `.relayUnreachable` or `.relayRefused`.
    public func perform(_ command: Command) async throws {
        switch command {
        case .member(let change, let name):
            try await controller.send(.PUT, "\(path)/participants/\(try await id(of: name))/moderation", change)
        case .remove(let name, let mayReturn):
            let query = mayReturn ? "?may-return=true" : ""
            try await controller.send(.DELETE, "\(path)/participants/\(try await id(of: name))\(query)")
        case .spotlight(let name):
            var body: [String: String] = [:]
            if let name { body["participant"] = try await id(of: name) }
            try await controller.send(.PUT, "\(path)/spotlight", body)
        case .lowerHands: try await controller.send(.DELETE, "\(path)/hands")
        case .entry(let entry): try await controller.send(.PUT, "\(path)/entry", entry)
        case .answer(let name, let isAdmitted):
            try await controller.send(.PUT, "\(path)/lobby/\(try await waitingID(of: name))", ["admit": isAdmitted])
        case .end: try await controller.send(.DELETE, path)
        }
    }

    /// A moderator's request.
    public enum Command: Sendable {
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
        try await controller.get("\(path)/lobby", as: Waiting.self).waiting
    }

    private func id(of name: String) async throws -> String { try await controller.report().id(of: name) }

    private func waitingID(of name: String) async throws -> String {
        try await waiting().id(of: name, "in the lobby")
    }
}
