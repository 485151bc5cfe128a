import ArgumentParser
import ConferenceClient
import Dispatch
import Foundation

/// The reason for the end of a run.
enum Ending: Sendable {
    case duration
    case interrupted
    case ended(ClientSession.End)
    /// The relay asks the client to go to another one; the call goes on until it does.
    case moved

    /// The name in reports.
    var name: String {
        switch self {
        case .duration: "duration"
        case .interrupted: "interrupted"
        case .ended(.relayLeft), .ended(.dismissed): "relay-left"
        case .moved: "moved"
        case .ended(.failed): "failed"
        case .ended(.left): "interrupted"
        }
    }

    var error: ClientError? {
        switch self {
        case .ended(.relayLeft(let reason)), .ended(.dismissed(let reason)): .relayLeft(reason: reason)
        case .ended(.failed(let error)): error
        default: nil
        }
    }

    /// Waits for the first of: the end of the time, Ctrl-C, the relay's wish to be left, or the session's own end.
    ///
    /// - Parameter move: Returns whether the relay wishes that; nil: it makes no difference.
    static func first(
        duration: Duration?, interruptions: Interruptions, move: (@Sendable () async -> Bool)?,
        end: @escaping @Sendable () async -> ClientSession.End
    ) async -> Ending {
        let (endings, continuation) = AsyncStream.makeStream(of: Ending.self)
        let timer = Task {
            guard let duration, (try? await Task.sleep(for: duration)) != nil else { return }
            continuation.yield(.duration)
        }
        interruptions.whenInterrupted { continuation.yield(.interrupted) }
        Task { continuation.yield(.ended(await end())) }
        if let move { Task { if await move() { continuation.yield(.moved) } } }
        let first = await endings.first { _ in true }
        timer.cancel()
        return first ?? .interrupted
    }
}

/// Ctrl-C and SIGTERM: the first ends the session in order, the second at once.
///
/// `@unchecked Sendable` holds because `first` and `action` are used only inside blocks on `queue`, a serial queue, and
/// `sources` only in the initializer.
final class Interruptions: @unchecked Sendable {
    private let queue = DispatchQueue(label: "confclient.signals")
    private var sources: [any DispatchSourceSignal] = []
    /// The first signal.
    private var first: Int32?
    private var action: (@Sendable () -> Void)?

    init() {
        // A reader of our output that goes away is an error of a write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in self?.interrupted(by: number) }
            source.resume()
            sources.append(source)
        }
    }

    /// Calls `action` at the first interruption, or at once if it has happened already.
    func whenInterrupted(_ action: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            self.action = action
            if first != nil { action() }
        }
    }

    private func interrupted(by signal: Int32) {
        // While there is nothing to end in order yet, or when that takes too long, the program just ends, as shells
        // tell of one that the signal has ended.
        guard first == nil, let action else {
            // Not `exit`, which takes the libraries apart under the threads that use them, libcurl's among them.
            _exit(128 + signal)
        }
        first = signal
        action()
    }

    /// Ends the program as shells have it of one that the signal ended.
    var exit: ExitCode { ExitCode(128 + queue.sync { first ?? SIGINT }) }
}
