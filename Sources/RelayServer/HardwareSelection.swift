import Conference
import LoadControl
import Logging
import MediaCore
import VideoCoding

/// The choice of the relay's encoders.
public enum CodecChoice: String, CaseIterable, Sendable {
    /// A device where it is the better encoder, else software.
    case auto
    case software
    /// A device; software only while the device fails.
    case vaapi
}

/// Chooses the devices that encode, decode and compose, at the start.
struct HardwareSelection {
    let choice: CodecChoice
    let decodes: Bool
    let composes: Bool
    /// The device that was named; nil: the first that can.
    let device: VAAPIDevice?
    let relay: RelayConfiguration
    let logger: Logger

    init(_ configuration: RelayServerConfiguration, logger: Logger) {
        choice = configuration.codec
        decodes = configuration.decodesOnDevice
        composes = configuration.composesOnDevice
        device = configuration.vaapiDevice
        relay = configuration.relay
        self.logger = logger
    }

    /// Chooses the devices of a relay.
    func select(for relay: inout RelayConfiguration) throws(StartupError) {
        relay.hardware = try select()
        relay.decodingDevice = try selectDecoder()
        relay.composingDevice = try selectCompositor()
    }

    /// - Throws: `StartupError.hardwareNotUsable` where a device has to be used and cannot.
    func select() throws(StartupError) -> VAAPIDeviceReport? {
        guard choice != .software else { return nil }
        var reasons: [String] = []
        for device in devices {
            do throws(VideoCodingError) {
                var report = try VAAPIDeviceReport(of: device)
                if choice == .auto {
                    let trial = try trial(of: &report)
                    if let reason = try reasonForSoftware(in: trial) {
                        logger.info("software encodes: \(device) (\(report.driver)) could, but \(reason)")
                        return nil
                    }
                } else {
                    // A device that fails here has its chance in calls.
                    _ = try? trial(of: &report)
                }
                logger.notice("\(device) encodes (\(report.driver))")
                return report
            } catch {
                reasons.append("\(device): \(error)")
            }
        }
        let reason = Self.reason(reasons)
        guard choice == .auto else { throw .hardwareNotUsable(reason: reason) }
        logger.log(level: device == nil ? .info : .warning, "software encodes: \(reason)")
        return nil
    }

    /// - Throws: `StartupError.hardwareNotUsable` where a device has to decode and none can.
    func selectDecoder() throws(StartupError) -> VAAPIDevice? {
        guard decodes else { return nil }
        return try first("decodes") { device throws(VideoCodingError) in try device.decodingDriver() }
    }

    /// - Throws: `StartupError.hardwareNotUsable` where a device has to compose and none can.
    func selectCompositor() throws(StartupError) -> VAAPIDevice? {
        guard composes else { return nil }
        return try first("composes") { device throws(VideoCodingError) in try device.composingDriver() }
    }

    /// The first device that can.
    private func first(
        _ work: String, _ driver: (VAAPIDevice) throws(VideoCodingError) -> String
    ) throws(StartupError) -> VAAPIDevice {
        var reasons: [String] = []
        for device in devices {
            do throws(VideoCodingError) {
                let driver = try driver(device)
                logger.notice("\(device) \(work) (\(driver))")
                return device
            } catch {
                reasons.append("\(device): \(error)")
            }
        }
        throw .hardwareNotUsable(reason: Self.reason(reasons))
    }

    private var devices: [VAAPIDevice] { device.map { [$0] } ?? VAAPIDevice.renderNodes }

    private static func reason(_ reasons: [String]) -> String {
        reasons.isEmpty ? "there is no /dev/dri/renderD*" : reasons.joined(separator: "; ")
    }

    /// Tries how soon a device follows a new rate. The frames of one that is slow are each given a QP, if that helps.
    private func trial(of report: inout VAAPIDeviceReport) throws(VideoCodingError) -> CodecTrial {
        let trial = try CodecTrial(
            of: report.device, canvas: relay.canvas, processorTime: ProcessorClock.ofThisProcess)
        guard trial.followsSlowly, report.rateControls.contains("CQP") else { return trial }
        let ours = try CodecTrial(
            of: report.device, controlsQP: true, canvas: relay.canvas, processorTime: ProcessorClock.ofThisProcess)
        guard !ours.followsSlowly else { return trial }
        report.followsSlowly = true
        logger.notice("\(report.device) follows a new rate slowly: the relay chooses the QP of each frame")
        return ours
    }

    private func reasonForSoftware(in hardware: CodecTrial) throws(VideoCodingError) -> String? {
        let software = try CodecTrial(
            of: nil, software: relay.encoder, canvas: relay.canvas, processorTime: ProcessorClock.ofThisProcess)
        return hardware.reasonToPrefer(software, interval: .seconds(1) / max(1, relay.frameRate))
    }
}
