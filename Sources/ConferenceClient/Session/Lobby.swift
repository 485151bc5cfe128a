import Foundation
import NIOCore
import NIOHTTP1
import RoomAPI

/// A place in a room's lobby.
struct Lobby {
    let url: RoomURL
    let eventLoop: any EventLoop

    /// The time between two requests to the relay.
    private static let interval = Duration.seconds(2)

    private struct Answer: Decodable {
        var state: LobbyState
    }

    /// Waits until a moderator lets the client in.
    ///
    /// - Parameter path: Where the relay says what became of the waiting.
    /// - Returns: The ticket to join with; nil: the relay does not know the place any more, and has to be asked anew.
    /// - Throws: `ClientError.relayRefused` if a moderator does not, `.relayUnreachable`.
    func admission(at path: String?) async throws -> String? {
        guard let path, let ticket = path.split(separator: "/").last else {
            throw ClientError.relayRefused(url: "\(url)", status: 202, reason: "it does not say where to wait")
        }
        while true {
            try await Task.sleep(for: Self.interval)
            let response = try await SignallingConnection.connect(to: url, on: eventLoop).exchange(
                method: .GET, path: path)
            // A relay that is busy still knows the place.
            if response.status == 429 || response.status >= 500 { continue }
            guard response.status == 200 else { return nil }
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body.readableBytesView))
            switch answer?.state {
            case .admitted: return String(ticket)
            case .refused, nil:
                throw ClientError.relayRefused(url: "\(url)", status: 403, reason: "a moderator did not let you in")
            case .waiting: continue
            }
        }
    }
}
