import ArgumentParser
import Conference
import Foundation
import LoadControl
import MediaCore
import MediaFiles
import RelayServer
import RoomMedia
import VectorGraphics
import VideoCoding

/// `confrelay calibrate`: measures the costs of the relay's work on this machine, and the number of participants that
/// fit.
struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay calibrate",
        abstract: "Measure how many participants this machine can serve.",
        discussion: """
            Decodes, composes and encodes pictures of a call on one thread, as a relay does at its start but for \
            longer. From the processor time it computes how many participants fit in a room if all send 640x360 and \
            see one another. Run no other programs meanwhile.
            """)

    @Option(
        help: ArgumentHelp(
            "Size of the composed picture in pixels, both numbers even. (default: 1280x720)", valueName: "WxH"),
        transform: VideoDimensions.init(option:))
    var canvas = VideoDimensions(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Composed pictures a second, 1 to 60.", valueName: "fps"))
    var frameRate = 30

    @Option(help: "H.264 encoder: openh264 or x264.")
    var encoder = EncoderBackEnd.openH264

    @Option(help: "Time that the encoder takes for quality.")
    var encoderPreset = EncoderPreset.balanced

    @Option(help: ArgumentHelp("Threads of the relay; default: one for each core.", valueName: "n"))
    var workers = RelayServerConfiguration().workers

    @Option(help: ArgumentHelp("Maximum of video encoders in a room; default: two for each core.", valueName: "n"))
    var maxEncoders = EncoderLimit.forThisMachine

    @Option(help: ArgumentHelp("Duration of the measurement, 1 to 60.", valueName: "seconds"))
    var seconds = 6

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Write what this machine's GPUs can do, and how they encode, to a file, instead of all else.",
            discussion: "The file is JSON. It names the processor, the kernel and the drivers.", valueName: "file"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "The one GPU to report on: its render node, or driver:NAME. (default: all)", valueName: "device"),
        transform: VAAPIDevice.init(option:))
    var vaapiDevice: VAAPIDevice?

    func validate() throws {
        try MediaOptions.check(canvas)
        guard (1...60).contains(frameRate) else {
            throw ValidationError("--frame-rate \(frameRate) is not possible: choose 1 to 60 pictures a second")
        }
        guard (1...60).contains(seconds) else {
            throw ValidationError("--seconds \(seconds) is not possible: choose 1 to 60")
        }
        guard report != nil || vaapiDevice == nil else {
            throw ValidationError("--vaapi-device goes with --report")
        }
        guard (1...1024).contains(workers) else {
            throw ValidationError("--workers \(workers) is not possible: choose 1 to 1024 threads")
        }
        try maxEncoders.check()
    }

    private func writeReport(to path: String) throws {
        func failure(_ reason: String) -> CommandFailure {
            CommandFailure(.cannotCreate, "the report cannot be written to \(path): \(reason); name another file")
        }
        do {
            // Before all the measurements.
            try WritablePath.checkFile(path)
        } catch {
            throw failure(error.reason)
        }
        let data: Data
        do {
            data = try HardwareReport(of: vaapiDevice, software: encoder, canvas: canvas).json()
        } catch {
            throw CommandFailure(.internalFailure, "\(error)")
        }
        do {
            try data.write(to: URL(fileURLWithPath: path))
        } catch {
            throw failure(OutputFile.reason(error))
        }
    }

    func run() throws {
        if let report { return try writeReport(to: report) }
        let calibration: Calibration
        do {
            calibration = try CalibrationRun(
                canvas: canvas, encoder: encoder, limit: .seconds(seconds), processorTime: ProcessorClock.ofThisThread
            ).measure()
        } catch {
            throw CommandFailure(.internalFailure, "\(error)")
        }
        let model = SeatModel(
            calibration: calibration, workers: min(workers, ProcessInfo.processInfo.activeProcessorCount),
            frameRate: frameRate, preset: encoderPreset, maximumEncoders: maxEncoders.count)
        let report = CalibrationReport(model)
        try StandardStreams.write(json ? report.json() : report.table)
    }
}
