import MediaCore
import NIOCore

/// A client of a load run. Where its relay ends, or asks to be left, it goes on at another one of the cluster.
actor LoadClient {
    private let options: JoinOptions
    private let makeSources: @Sendable () throws -> MediaSources
    private var session: ClientSession
    private var sessions = 1
    private var isLeaving = false
    private var moves: [LoadReport.Move] = []
    /// The reports of the sessions before this one.
    private var former: [ClientReport] = []

    /// Joins.
    init(
        _ options: JoinOptions, on eventLoop: any EventLoop, makeSources: @escaping @Sendable () throws -> MediaSources
    ) async throws {
        self.options = options
        self.makeSources = makeSources
        session = try await ClientSession.join(options, sources: .init(makeSources()), on: eventLoop)
    }

    /// Follows the call to other relays, and returns its end where none takes it.
    func follow() async -> ClientSession.End {
        while true {
            let isAsked = await session.waitForMove()
            let lost = ContinuousClock.now
            if !isAsked {
                let end = await session.waitForEnd()
                guard case .relayLeft = end, !isLeaving, !session.rejoinURLs.isEmpty else { return end }
            }
            do {
                try await goOn(reason: isAsked ? "moved" : "relay-left", since: lost)
            } catch {
                // A relay that asked to be left goes on until it ends.
                return await session.waitForEnd()
            }
        }
    }

    private func goOn(reason: String, since lost: ContinuousClock.Instant) async throws {
        let current = session
        sessions += 1
        let options = options.numbered(sessions)
        let next = try await current.joinElsewhere(since: lost) { [makeSources] url in
            var options = options
            options.url = url
            return try await ClientSession.join(options, sources: .init(makeSources()), on: current.eventLoop)
        }
        guard !isLeaving else {
            _ = try await next.leave(end: reason)
            return
        }
        moves.append(
            .init(name: options.name, url: "\(next.url)", reason: reason, seconds: (ContinuousClock.now - lost).seconds)
        )
        if reason == "moved" { await next.waitForMedia() }
        session = next
        former.append(try await current.leave(end: reason).report)
    }

    func status() async throws -> ClientStatus { try await session.status() }

    /// Leaves.
    ///
    /// - Returns: The reports of its sessions, the last one last, its moves, and the failure if there was one.
    func leave(end: String) async throws -> (reports: [ClientReport], moves: [LoadReport.Move], error: ClientError?) {
        isLeaving = true
        let (report, error) = try await session.leave(end: end)
        return (former + [report], moves, error)
    }
}
