import MediaCore
package import NIOCore
import Synchronization

/// A live stream that is filled on its own thread and read by HTTP requests, which may wait for what comes next.
package final class LiveStream: Sendable {
    /// What the first playlist says.
    struct Description: Sendable {
        var codecs: String
        var dimensions: VideoDimensions
        /// Of everything, at most.
        var bitRate: BitRate
        var frameRate: Int
    }

    /// Why a request gets no answer.
    package enum Refusal: Error, Equatable {
        /// It asks for what is too far ahead, or gone.
        case notOffered
        /// It waited for too long, or too many wait.
        case notReady
    }

    private struct Waiter {
        var isServed: @Sendable (LiveWindow) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var window: LiveWindow
        var description: Description?
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    /// Requests that wait at the same time.
    static let maximumWaiters = 500
    /// The longest wait of a request: three times the length of a segment.
    static let patience = Duration.seconds(9)

    private let state: Mutex<State>

    init(limits: LiveWindow.Limits = LiveWindow.Limits()) {
        state = Mutex(State(window: LiveWindow(limits: limits)))
    }

    // MARK: Filling

    /// Changes what is offered, and answers those that have waited for it.
    func update(_ change: (inout LiveWindow) -> Void) {
        let served = state.withLock { state in
            change(&state.window)
            let served = state.waiters.filter { $0.value.isServed(state.window) }
            for id in served.keys { state.waiters[id] = nil }
            return served
        }
        for waiter in served.values { waiter.continuation.resume() }
    }

    func describe(_ description: Description) { state.withLock { $0.description = description } }

    // MARK: Reading

    package var isEnded: Bool { state.withLock { $0.window.isEnded } }
    /// Requests that wait now.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// The playlist of playlists.
    package func index() async throws(Refusal) -> String {
        try await wait(after: Self.timeout) { $0.last != nil || $0.isEnded }
        guard let description = state.withLock({ $0.description }) else { throw .notReady }
        return """
            #EXTM3U
            #EXT-X-VERSION:9
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-STREAM-INF:BANDWIDTH=\(description.bitRate.bitsPerSecond),CODECS="\(description.codecs)",\
            RESOLUTION=\(description.dimensions),FRAME-RATE=\(description.frameRate).000
            \(LiveFile.playlist.name)

            """
    }

    /// The playlist; once a segment, or a part of it, is there (`_HLS_msn` and `_HLS_part`).
    ///
    /// - Parameter timeout: Returns when the request has waited for too long.
    package func playlist(
        segment: Int? = nil, part: Int? = nil,
        after timeout: @escaping @Sendable () async -> Void = LiveStream.timeout
    ) async throws(Refusal) -> String {
        if let segment {
            guard state.withLock({ !$0.window.isTooFarAhead(segment: segment) }) else { throw .notOffered }
            try await wait(after: timeout) { $0.has(segment: segment, part: part) }
        } else {
            // Players that know nothing of parts find nothing to play in a playlist without a segment, and give up.
            try await wait(after: timeout) { $0.has(segment: 1, part: nil) }
        }
        return state.withLock { $0.window.playlist }
    }

    /// A part, as soon as it is there if it is the next one; a segment; or an initialization.
    package func bytes(
        of file: LiveFile, after timeout: @escaping @Sendable () async -> Void = LiveStream.timeout
    ) async throws(Refusal) -> ByteBuffer {
        if case .part(let position) = file, state.withLock({ $0.window.isNext(position) }) {
            try await wait(after: timeout) { !$0.isNext(position) }
        }
        let bytes = state.withLock { state -> ByteBuffer? in
            switch file {
            case .initialization(let map): state.window.initialization(map)
            case .segment(let number): state.window.segment(number)
            case .part(let position): state.window.part(position)?.bytes
            case .index, .playlist: nil
            }
        }
        guard let bytes else { throw .notOffered }
        return bytes
    }

    /// Waits for as long as a request may.
    static func timeout() async { try? await Task.sleep(for: patience) }

    private func wait(
        after timeout: @escaping @Sendable () async -> Void, until isServed: @escaping @Sendable (LiveWindow) -> Bool
    ) async throws(Refusal) {
        if state.withLock({ isServed($0.window) }) { return }
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let timer = Task { [weak self] in
            await timeout()
            self?.giveUp(id)
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let mayWait = state.withLock { state in
                    guard !isServed(state.window), state.waiters.count < Self.maximumWaiters, !Task.isCancelled else {
                        return false
                    }
                    state.waiters[id] = Waiter(isServed: isServed, continuation: continuation)
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            giveUp(id)
        }
        guard state.withLock({ isServed($0.window) }) else { throw .notReady }
    }

    private func giveUp(_ id: Int) { state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume() }
}

/// The live streams of a relay, by room, for requests.
package final class LiveStreams: Sendable {
    private let streams = Mutex<[String: LiveStream]>([:])

    package subscript(room: String) -> LiveStream? {
        get { streams.withLock { $0[room] } }
        set { streams.withLock { $0[room] = newValue } }
    }

    /// Forgets a stream, unless there is another one of the room by now.
    package func remove(_ stream: LiveStream, room: String) {
        streams.withLock { if $0[room] === stream { $0[room] = nil } }
    }
}
