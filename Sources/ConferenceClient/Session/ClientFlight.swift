import CongestionControl
import FlightFiles
import FlightRecording
import MediaCore

/// The recording of what a client's controller is told and decides.
///
/// The recorder is touched on the session's event loop only; the rest never changes.
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

    /// Finishes the file; returns what went wrong with it, if anything.
    func close() async -> ClientError? {
        await writer.shutDown().map { .outputNotWritable(path: path, reason: "\($0)") }
    }
}
