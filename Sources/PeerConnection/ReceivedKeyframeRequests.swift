import MediaCore

/// Tells new requests for a keyframe from those that another one has asked for already.
struct ReceivedKeyframeRequests {
    /// Requests closer together than this are one request: the keyframe for the first is still on its way.
    static let window = Duration.milliseconds(300)

    /// The time of the last request that counted.
    private(set) var last: MonotonicInstant?
    private var lastForKeyframe: MonotonicInstant?
    private var lastCommand: UInt8?

    /// Takes a picture loss indication. Returns true if it is a new request.
    ///
    /// - Parameter isForKeyframe: False if another picture than a keyframe may answer it.
    mutating func takePictureLoss(isForKeyframe: Bool, now: MonotonicInstant) -> Bool {
        guard !isInWindow(of: last, now: now) else { return false }
        last = now
        if isForKeyframe { lastForKeyframe = now }
        return true
    }

    /// Takes a full intra request. Returns true if it is a new one: a repeated one has the same number (RFC 5104
    /// 4.3.1.2). A picture that is no keyframe does not answer it.
    mutating func takeFullIntra(commandSequence: UInt8, now: MonotonicInstant) -> Bool {
        guard commandSequence != lastCommand, !isInWindow(of: lastForKeyframe, now: now) else { return false }
        lastCommand = commandSequence
        (last, lastForKeyframe) = (now, now)
        return true
    }

    private func isInWindow(of request: MonotonicInstant?, now: MonotonicInstant) -> Bool {
        request.map { now - $0 < Self.window } ?? false
    }
}
