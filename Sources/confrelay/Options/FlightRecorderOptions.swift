import ArgumentParser
import FlightRecording
import MediaCore
import RelayServer

/// The recording of each participant's congestion controller.
struct FlightRecorderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record the inputs and decisions of each downlink's controller, a file per participant in this folder.",
            discussion: "confsim record-replay runs a controller on such a file again (docs/flight-recorder.md).",
            valueName: "DIR"))
    var flightRecorder: String?

    @Option(
        help: ArgumentHelp(
            "Maximum size of such a file, at least 10kB; the recording ends there. (default: 64MB)", valueName: "size"),
        transform: DataSize.init(option:))
    var flightRecorderLimit = FlightRecorder.defaultLimit

    @Option(
        help: ArgumentHelp(
            "Maximum of recordings in the folder; the oldest complete ones are removed.", valueName: "n"))
    var flightRecorderFiles = RelayServerConfiguration().flightRecorderFiles

    func validate() throws {
        guard (1...1_000_000).contains(flightRecorderFiles) else {
            throw ValidationError("--flight-recorder-files \(flightRecorderFiles) is not possible: choose 1 to 1000000")
        }
        guard flightRecorderLimit >= DataSize(bytes: 10_000) else {
            throw ValidationError("--flight-recorder-limit is too small: give 10kB at least")
        }
    }
}
