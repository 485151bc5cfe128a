import Conference
import LoadControl
import Logging
import MediaCore
import VectorGraphics
import VideoCoding

/// Logs the actions of overload control.
struct OverloadLog: Sendable {
    let logger: Logger

    func record(_ event: OverloadEvent) {
        switch event {
        case .calibrated(let calibration, let model):
            logger.notice("\(Self.line(calibration, model))")
        case .levelChanged(let change):
            let isWorse = change.to > change.from
            logger.log(level: isWorse ? .warning : .notice, "\(Self.line(change))")
        case .encoderFailed(let failure, let room):
            logger.error("\(Self.line(failure))", metadata: ["room": "\(room)"])
        }
    }

    /// Returns a line on the measured capacity of the machine, with the number of participants that fit.
    static func line(_ calibration: Calibration, _ model: SeatModel) -> String {
        let (decode, encode) = (calibration.decodeCost, calibration.encodeCost(at: model.preset))
        let composition = calibration.composition(sources: 9, pictures: 1)
        return "calibrated: decode \(milliseconds(decode))\(place(calibration.device.decode)), compose "
            + "\(milliseconds(composition)) of nine\(place(calibration.device.compose?.picture)), "
            + "encode \(milliseconds(encode))\(place(calibration.device.encode)) "
            + "(\(model.preset.rawValue)); about \(model.seats(.groups)) seats in one room with a shared picture, "
            + "\(model.seats(.dedicated)) with an encoder each"
    }

    private static func place(_ deviceCost: Double?) -> String { deviceCost == nil ? "" : " on a GPU" }

    static func line(_ change: OverloadChange) -> String {
        let way = change.to > change.from ? "short of time" : "enough time again"
        let seats = change.seatsLeft.map { ", \($0) seats left" } ?? ""
        return "overload: \(way): \(change.from.name) -> \(change.to.name) (ticks take "
            + "\(percent(change.load)) of their time, workers are busy for \(percent(change.busy))\(seats))"
    }

    static func line(_ failure: EncoderFailure) -> String {
        let times = failure.failures == 1 ? "" : ", \(failure.failures) times in a row"
        return "an encoder failed\(times): \(failure.reason); it is tried again after "
            + "\(NumberText.fixed(failure.retryAfter / 1000, 2)) s"
    }

    private static func milliseconds(_ seconds: Double) -> String { "\(NumberText.fixed(seconds * 1000, 2)) ms" }

    private static func percent(_ share: Double) -> String {
        "\(Int(clamping: (min(max(share, 0), 10) * 100).rounded())) %"
    }
}
