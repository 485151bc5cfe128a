import Foundation
import MediaCore
package import RoomAPI

/// The reason for which a connection of an output failed.
package struct OutputFailure: Error, Hashable {
    var reason: OutputStatus.Reason
    /// The reason in words, without secrets.
    var detail: String?
}

/// The states of an output: it connects, is live, waits after failures, and ends.
package struct OutputLifecycle: Sendable {
    private enum Phase: Equatable {
        case connecting
        case live(since: MonotonicInstant)
        case waiting(until: MonotonicInstant)
        case ended
    }

    /// The news for everybody in the room.
    package struct News: Equatable, Sendable {
        package var state: OutputStatus.State
        package var reason: OutputStatus.Reason?
    }

    private var phase = Phase.connecting
    private var failure: OutputFailure?
    private var delays: ReconnectDelays
    private var told = OutputStatus.State.connecting
    private var connections = 0
    /// The bytes that were sent in connections before, and in this one.
    private var bytesBefore: Int64 = 0
    private var bytesOfConnection: Int64 = 0

    init(delays: ReconnectDelays = ReconnectDelays()) {
        self.delays = delays
    }

    /// A connection took the first picture.
    mutating func wentLive(now: MonotonicInstant) -> News? {
        guard phase == .connecting else { return nil }
        phase = .live(since: now)
        failure = nil
        connections += 1
        return tell(.live)
    }

    mutating func sent(_ bytes: Int64) { bytesOfConnection = max(bytes, bytesOfConnection) }

    /// A connection failed, or could not be made. Not every failed try is told, but that it waits.
    ///
    /// - Parameter random: From 0 to 1.
    /// - Returns: How long to wait, and what to tell.
    mutating func failed(
        _ failure: OutputFailure, random: Double, now: MonotonicInstant
    ) -> (wait: Duration, news: News?) {
        guard phase != .ended else { return (.zero, nil) }
        var lasted = Duration.zero
        if case .live(let since) = phase { lasted = now - since }
        let wait = delays.next(after: lasted, random: random)
        closeConnection()
        self.failure = failure
        phase = .waiting(until: now + wait)
        return (wait, tell(.waiting))
    }

    /// The wait is over.
    mutating func retries() {
        if case .waiting = phase { phase = .connecting }
    }

    mutating func ended(_ failure: OutputFailure) -> News? {
        guard phase != .ended else { return nil }
        // The connection may still take what waits.
        self.failure = failure
        phase = .ended
        return tell(.ended)
    }

    private mutating func closeConnection() {
        bytesBefore += bytesOfConnection
        bytesOfConnection = 0
    }

    private mutating func tell(_ state: OutputStatus.State) -> News? {
        guard state != told else { return nil }
        told = state
        return News(state: state, reason: failure?.reason)
    }

    // MARK: Figures

    var state: OutputStatus.State {
        switch phase {
        case .connecting: .connecting
        case .live: .live
        case .waiting: .waiting
        case .ended: .ended
        }
    }

    var bytes: Int64 { bytesBefore + bytesOfConnection }
    var reconnects: Int { max(0, connections - 1) }

    /// The output as those are told who may begin and end outputs.
    func description(
        id: String, name: String?, url: String, framesDropped: Int, now: MonotonicInstant, date: Date
    ) -> OutputDescription {
        var next: String?
        if case .waiting(let until) = phase {
            next = date.addingTimeInterval(max(until - now, .zero).seconds).formatted(EventTime.style)
        }
        return OutputDescription(
            OutputStatus(id: id, name: name, state: state, reason: failure?.reason), url: url,
            detail: failure?.detail, nextTry: next, bytes: bytes, framesDropped: framesDropped,
            reconnects: reconnects)
    }
}
