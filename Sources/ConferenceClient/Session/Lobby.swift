import Foundation
import HTTPTransfer
import RoomAPI

/// A place in a room's lobby.
struct Lobby {
    let url: RoomURL
    /// The time between two requests to the relay.
    var interval = Duration.seconds(2)

    /// The time for which the relay keeps the place of a client that it does not hear.
    private static let patience = Duration.seconds(30)

    private struct Answer: Decodable {
        var state: LobbyState
    }

    /// Waits until a moderator lets the client in. Gives the place up when the task is cancelled.
    ///
    /// - Parameter path: Where the relay says what became of the waiting.
    /// - Returns: The ticket to join with; nil: the relay does not know the place any more, and has to be asked anew.
    /// - Throws: `ClientError.relayRefused` if a moderator does not; `.relayUnreachable` if the relay does not answer
    ///   for as long as it keeps the place; `CancellationError`.
    func admission(at path: String?) async throws -> String? {
        guard let path, let ticket = path.split(separator: "/").last else {
            throw ClientError.relayRefused(url: "\(url)", status: 202, reason: "it does not say where to wait")
        }
        do {
            return try await isAdmitted(at: path) ? String(ticket) : nil
        } catch {
            guard Task.isCancelled else { throw error }
            // The requests of a cancelled task are cancelled, too.
            await Task { await Signalling(url).end(path) }.value
            throw CancellationError()
        }
    }

    /// - Returns: False: the relay does not know the place any more.
    private func isAdmitted(at path: String) async throws -> Bool {
        var answered = ContinuousClock.now
        while true {
            try await Task.sleep(for: interval)
            let response: HTTPClient.Answer
            do {
                response = try await Signalling(url).exchange(.get, path)
            } catch {
                // A gap in the network costs no place that the relay keeps.
                guard ContinuousClock.now - answered < Self.patience else { throw error }
                continue
            }
            answered = ContinuousClock.now
            // A relay that is busy still knows the place.
            if response.status == 429 || response.status >= 500 { continue }
            guard response.status == 200 else { return false }
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
            switch answer?.state {
            case .admitted: return true
            case .refused, nil:
                throw ClientError.relayRefused(url: "\(url)", status: 403, reason: "a moderator did not let you in")
            case .waiting: continue
            }
        }
    }
}
