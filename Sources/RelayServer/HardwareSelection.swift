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

/// Chooses the device that encodes, at the start.
struct HardwareSelection {
    let choice: CodecChoice
    /// The device that was named; nil: the first that encodes.
    let device: VAAPIDevice?
    let relay: RelayConfiguration
    let logger: Logger

    init(_ configuration: RelayServerConfiguration, logger: Logger) {
        choice = configuration.codec
        device = configuration.vaapiDevice
        relay = configuration.relay
        self.logger = logger
    }

    /// - Throws: `StartupError.hardwareNotUsable` where a device has to be used and cannot.
    func select() throws(StartupError) -> VAAPIDeviceReport? {
        guard choice != .software else { return nil }
        let devices = device.map { [$0] } ?? VAAPIDevice.renderNodes
        var reasons: [String] = []
        for device in devices {
            do throws(VideoCodingError) {
                let report = try VAAPIDeviceReport(of: device)
                if choice == .auto, let reason = try reasonForSoftware(device) {
                    logger.info("software encodes: \(device) (\(report.driver)) could, but \(reason)")
                    return nil
                }
                logger.notice("\(device) encodes (\(report.driver))")
                return report
            } catch {
                reasons.append("\(device): \(error)")
            }
        }
        let reason = reasons.isEmpty ? "there is no /dev/dri/renderD*" : reasons.joined(separator: "; ")
        guard choice == .auto else { throw .hardwareNotUsable(reason: reason) }
        logger.log(level: device == nil ? .info : .warning, "software encodes: \(reason)")
        return nil
    }

    private func reasonForSoftware(_ device: VAAPIDevice) throws(VideoCodingError) -> String? {
        let hardware = try CodecTrial(
            of: device, canvas: relay.canvas, processorTime: ProcessorClock.ofThisProcess)
        let software = try CodecTrial(
            of: nil, software: relay.encoder, canvas: relay.canvas, processorTime: ProcessorClock.ofThisProcess)
        return hardware.reasonToPrefer(software, interval: .seconds(1) / max(1, relay.frameRate))
    }
}
