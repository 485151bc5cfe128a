import MediaCore
import VideoCoding

/// The speed of the machine at the moment: the processor time of encoding the same pictures in the same way, a few of
/// them each second.
///
/// Ways are measured one after the other, and other load on the machine changes the time of each.
final class Yardstick {
    private static let rate = BitRate.megabits(1)

    private let show: QualityShow
    private let session: CompressionSession
    private let outputs = EncodeOutputQueue()
    private var number = 0

    init(_ show: QualityShow) throws(VideoCodingError) {
        self.show = show
        session = try CompressionSession(
            dimensions: Workload.canvas, backEnd: .openH264,
            properties: CompressionProperties(
                averageBitRate: Self.rate, expectedFrameRate: Double(QualityShow.frameRate)),
            outputHandler: outputs.append)
    }

    /// Encodes the next picture.
    ///
    /// - Returns: The time that it took; nil for the first, which is another kind of frame.
    func measure() throws(VideoCodingError) -> Duration? {
        let began = ThreadClock.now()
        try session.encode(
            show.picture(number),
            presentationTime: MediaTime(value: Int64(number), timescale: Int32(QualityShow.frameRate)))
        _ = outputs.next()
        let spent = ThreadClock.now() - began
        number += 1
        return number > 1 ? spent : nil
    }
}
