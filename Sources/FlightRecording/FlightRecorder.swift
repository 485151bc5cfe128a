public import MediaCore

/// Encodes what happens to a controller and hands it to a sink, up to a size.
///
/// A record costs some tens of nanoseconds, no allocation and no lock. When the sink has no room, or the size is
/// reached, the recording ends there.
///
/// `@unchecked Sendable` holds because a recorder belongs to one controller, which is used from one place at a time.
public final class FlightRecorder: @unchecked Sendable {
    /// What a recording grows to where nothing else is said: some three hours of a busy downlink.
    public static let defaultLimit = DataSize(bytes: 64_000_000)

    private let sink: any FlightSink
    private let limit: Int
    private let start: MonotonicInstant
    private var encoder: FlightEncoder
    private var size = 0
    private var isRecording = true
    private var hasLost = false

    /// Begins a recording.
    ///
    /// - Parameter limit: The size that the whole recording does not exceed, unless its header alone does.
    public init(header: FlightHeader, limit: DataSize = FlightRecorder.defaultLimit, sink: any FlightSink) {
        self.sink = sink
        self.limit = limit.bytes
        start = header.start
        encoder = FlightEncoder(header: header)
        write()
    }

    deinit {
        finish()
    }

    /// Records what happened now.
    public func record(_ event: FlightEvent, now: MonotonicInstant) {
        guard isRecording else {
            if hasLost { sink.recordLost() }
            return
        }
        encoder.encode(event, time: now)
        guard size + encoder.bytes.count + FlightFormat.endRecordSize <= limit,
            (now - start).nanoseconds <= FlightFormat.maximumDuration
        else {
            end(.limitReached)
            return
        }
        write()
    }

    /// Ends the recording; what comes later is not recorded. A recorder that is let go of does this by itself.
    public func finish() {
        if isRecording { end(.closed) }
    }

    private func write() {
        guard sink.append(encoder.bytes) else {
            isRecording = false
            hasLost = true
            sink.recordLost()
            return
        }
        size += encoder.bytes.count
    }

    private func end(_ ending: FlightEnding) {
        isRecording = false
        encoder.encodeEnd(ending)
        // The end is no record: when it alone finds no room, nothing is lost but the way that the recording ended.
        _ = sink.append(encoder.bytes)
        sink.close()
    }
}
