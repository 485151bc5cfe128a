import MediaCore
import Synchronization

/// The picture of an encode job. While the job waits for a worker, a newer picture may take its place, so that a late
/// job encodes the newest. The room's loop replaces it and a worker takes it, hence the lock: once a frame, and never
/// held for longer than an assignment.
final class JobPicture: Sendable {
    private struct State {
        var picture: PixelBuffer
        var request: EncodeGroup.Request
        var isTaken = false
    }

    private let state: Mutex<State>

    init(_ picture: PixelBuffer, of request: EncodeGroup.Request) {
        state = Mutex(State(picture: picture, request: request))
    }

    /// Takes the picture, after which it stays.
    func take() -> (picture: PixelBuffer, request: EncodeGroup.Request) {
        state.withLock { state in
            state.isTaken = true
            return (state.picture, state.request)
        }
    }

    /// Replaces the picture. Returns the tick of the one before; nil if that has been taken.
    func replace(by request: EncodeGroup.Request) -> MonotonicInstant? {
        guard let picture = request.picture else { return nil }
        return state.withLock { state in
            guard !state.isTaken else { return nil }
            let overtaken = state.request.tick.captureTime
            state = State(picture: picture, request: request)
            return overtaken
        }
    }
}
