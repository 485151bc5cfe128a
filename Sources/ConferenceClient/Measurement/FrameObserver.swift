public import MediaCore

/// Sees the video frames of a client pass, to measure a relay from outside. Calls come on the client's event loop.
public protocol FrameObserver: Sendable {
    /// The last packet of a frame was handed to the system at `time`.
    func sent(_ sample: SampleBuffer, at time: MonotonicInstant)

    /// A whole frame came, whose last packet the system received at `time`.
    func received(_ sample: SampleBuffer, at time: MonotonicInstant)
}
