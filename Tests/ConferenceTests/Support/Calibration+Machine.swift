import LoadControl
import MediaCore
import VideoCoding

extension Calibration {
    /// The calibration of a machine that is slower than a usual one by `factor`.
    static func machine(timesSlower factor: Double = 1) -> Calibration {
        var calibration = Calibration(canvas: VideoDimensions(width: 1280, height: 720), encoder: .openH264)
        calibration.decode = 0.0004 * factor
        calibration.compose = CompositionCost(source: 0.0002 * factor, picture: 0.0005 * factor)
        calibration.encode = [.fastest: 0.0027 * factor, .balanced: 0.0033 * factor, .quality: 0.0034 * factor]
        calibration.audioDecode = 0.00003 * factor
        calibration.audioEncode = 0.00014 * factor
        return calibration
    }
}
