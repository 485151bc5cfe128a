import LoadControl
import MediaCore
import VideoCoding

extension Calibration {
    /// What a machine was measured to take that is so many times slower than a usual one.
    static func machine(timesSlower factor: Double = 1) -> Calibration {
        var calibration = Calibration(canvas: VideoDimensions(width: 1280, height: 720), encoder: .openH264)
        calibration.decode = 0.0004 * factor
        calibration.composeSource = 0.0002 * factor
        calibration.composePicture = 0.0005 * factor
        calibration.encode = [.fastest: 0.0027 * factor, .balanced: 0.0033 * factor, .quality: 0.0034 * factor]
        calibration.audioDecode = 0.00003 * factor
        calibration.audioEncode = 0.00014 * factor
        return calibration
    }
}
