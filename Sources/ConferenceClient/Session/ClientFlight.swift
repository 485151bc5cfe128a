import CongestionControl
import FlightFiles
import FlightRecording
import MediaCore

/// The recording of the inputs and decisions of a client's controller.
///
/// The recorder is used on the session's event loop only; the rest never changes.
struct ClientFlight: Sendable {
    private let path: String
    private let recorder: FlightRecorder
    private let writer: FlightFileWriter

    /// Begins a recording for a controller that is made now.
    init(path: String, options: JoinOptions, limits: RateLimits, packetOverhead: DataSize, now: MonotonicInstant) {
        self.path = path
        let header = FlightHeader(
            controller: options.controller.rawValue, limits: limits, start: now,
            wallClockMilliseconds: ClientClock.wallClockMilliseconds(), packetOverhead: packetOverhead,
            program: "confclient", room: options.url.room, participant: options.name)
        writer = FlightFileWriter()
        recorder = FlightRecorder(
            header: header, limit: options.flightRecorderLimit, sink: writer.makeSink(path: path, opening: .replace))
    }

    /// The controller, recorded from now on.
    func recording(_ controller: any CongestionController) -> any CongestionController {
        RecordingController(controller, recorder: recorder)
    }

    /// Ends the recording. On the event loop.
    func stop() {
        recorder.finish()
    }

    /// Finishes the file; returns its failure, if any.
    func close() async -> ClientError? {
        await writer.shutDown().map { .outputNotWritable(path: path, reason: "\($0)") }
    }
}
