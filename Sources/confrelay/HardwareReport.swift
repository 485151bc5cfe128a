import Foundation
import LoadControl
import MediaCore
import RelayServer
import RoomAPI
import VideoCoding

/// The report of `confrelay calibrate --report`: the capabilities that the machine's GPUs state, and their measured
/// ones.
struct HardwareReport: Encodable {
    struct Trial: Encodable {
        /// Milliseconds from a picture to its frame, and of the processor for it.
        var frame: Double
        var processor: Double
        /// The number of frames until the rate was within a tenth of a new target; nil if it did not get there.
        var stepResponse: Int?

        init(_ trial: CodecTrial) {
            func milliseconds(_ time: Duration) -> Double { (time.milliseconds * 1000).rounded() / 1000 }
            frame = milliseconds(trial.frameTime)
            processor = milliseconds(trial.processorTime)
            stepResponse = trial.stepResponse
        }
    }

    struct Device: Encodable {
        var device: String
        var driver: String?
        var entryPoint: String?
        var rateControls: [String]?
        var packedHeaders: [String]?
        var temporalLayers: Int?
        var maximum: String?
        var trial: Trial?
        /// The same with a QP for each frame in place of the driver's rate control.
        var trialByQP: Trial?
        /// The reason for which there are no further results.
        var error: String?
    }

    var confrelay: String
    var kernel: String
    var processor: String
    var canvas: String
    var software: Trial
    var devices: [Device]

    /// - Parameter device: The one device to look at; nil for all render nodes.
    init(of device: VAAPIDevice?, software encoder: EncoderBackEnd, canvas: VideoDimensions) throws(VideoCodingError) {
        confrelay = RelayVersion.current
        kernel = Self.firstLine(of: "/proc/sys/kernel/osrelease") ?? "unknown"
        let model = Self.lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
        processor =
            model?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces) ?? "unknown"
        self.canvas = "\(canvas)"
        let clock = { ProcessorClock.ofThisProcess() }
        software = Trial(try CodecTrial(of: nil, software: encoder, canvas: canvas, processorTime: clock))
        devices = (device.map { [$0] } ?? VAAPIDevice.renderNodes).map { device in
            var told = Device(device: device.description)
            do throws(VideoCodingError) {
                let report = try VAAPIDeviceReport(of: device)
                told.driver = report.driver
                told.entryPoint = report.entryPoint
                told.rateControls = report.rateControls
                told.packedHeaders = report.packedHeaders
                told.temporalLayers = report.temporalLayers
                told.maximum = "\(report.maximumDimensions)"
                told.trial = Trial(try CodecTrial(of: device, canvas: canvas, processorTime: clock))
                guard report.rateControls.contains("CQP") else { return told }
                told.trialByQP = Trial(
                    try CodecTrial(of: device, controlsQP: true, canvas: canvas, processorTime: clock))
            } catch {
                told.error = "\(error)"
            }
            return told
        }
    }

    func json() throws -> Data { try JSONEncoder.readable.encode(self) + Data("\n".utf8) }

    private static func lines(of path: String) -> [String] {
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    private static func firstLine(of path: String) -> String? { lines(of: path).first }
}
