import MediaCore
import NIOCore

/// A client of a load run. Where its relay ends, or asks to be left, it goes on at another one of the cluster.
actor LoadClient {
    private let options: JoinOptions
    private let makeSources: @Sendable () throws -> MediaSources
    private var session: ClientSession
    private var sessions = 1
    private var isLeaving = false
    /// The way to another relay, while the client is on it.
    private var going: Task<Bool, Never>?
    private var moves: [LoadReport.Move] = []
    /// The reports of the sessions before this one.
    private var former: [ClientReport] = []
    /// The first file of theirs that could not be written.
    private var formerFailure: ClientError?

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
            if await session.waitForMove(), await goOn(reason: "moved") { continue }
            // A relay that asked to be left goes on until it ends.
            let end = await session.waitForEnd()
            guard case .relayLeft = end, await goOn(reason: "relay-left") else { return end }
        }
    }

    /// Goes on at another relay. Returns false if none takes the client, or if it leaves.
    private func goOn(reason: String) async -> Bool {
        guard !isLeaving, !session.rejoinURLs.isEmpty else { return false }
        let going = Task { await move(reason: reason) }
        self.going = going
        defer { self.going = nil }
        return await going.value
    }

    private func move(reason: String) async -> Bool {
        let (current, lost) = (session, ContinuousClock.now)
        sessions += 1
        let options = options.numbered(sessions)
        let next = try? await current.joinElsewhere(options, since: lost) { [makeSources] _ in try makeSources() }
        guard let next else { return false }
        guard !isLeaving else {
            _ = await Self.end(next, reason: reason)
            return false
        }
        let seconds = (ContinuousClock.now - lost).seconds
        moves.append(.init(name: options.name, url: "\(next.url)", reason: reason, seconds: seconds))
        session = next
        if reason == "moved" { await next.waitForMedia() }
        if let (report, problem) = await Self.end(current, reason: reason) {
            former.append(report)
            if case .outputNotWritable? = problem { formerFailure = formerFailure ?? problem }
        }
        return true
    }

    /// Leaves one of two relays. The requests of a cancelled task would be cancelled, and the relay show the client
    /// until it misses it.
    private static func end(
        _ session: ClientSession, reason: String
    ) async -> (report: ClientReport, error: ClientError?)? {
        await Task { try? await session.leave(end: reason) }.value
    }

    func status() async throws -> ClientStatus { try await session.status() }

    /// The reports of a client's sessions, the last one last, its moves, and the failure if there was one.
    typealias Result = (reports: [ClientReport], moves: [LoadReport.Move], error: ClientError?)

    /// Leaves, also where it is on the way to another relay.
    func leave(end: String) async throws -> Result {
        isLeaving = true
        going?.cancel()
        _ = await going?.value
        let (report, error) = try await session.leave(end: end)
        return (former + [report], moves, formerFailure ?? error)
    }
}
