public import MediaCore

/// Encodes the inputs and decisions of a controller and hands them to a sink, up to a size limit.
///
/// A record costs some tens of nanoseconds, no allocation and no lock. The recording ends when the sink has no room or
/// the limit is reached.
///
/// `@unchecked Sendable` holds because a recorder belongs to one controller, which is used from one place at a time.
public final class FlightRecorder: @unchecked Sendable {
    /// The default size limit of a recording: some three hours of a busy downlink.
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

    /// Records an event of this moment.
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

    /// Ends the recording and ignores later events. A recorder that is released calls this by itself.
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
        // The end is no record: if it finds no room, only the reason of the ending is lost.
        _ = sink.append(encoder.bytes)
        sink.close()
    }
}
