import EncoderSharing
import H264
import MediaCore
import VideoCoding

extension EncodedPicture {
    /// Marks a frame that refers only to pictures of its receiver with the message "recovery point", so that the
    /// receiver continues there.
    mutating func tellRefresh() {
        guard recovery == .longTermReferences, var frame, !frame.isKeyframe, frame.statistics.usesLongTermReference,
            let units = try? frame.sample.nalUnits()
        else { return }
        let message = RecoveryPoint(frameCount: 0, isExact: true).nalUnit
        frame.sample.data = BlockBuffer(LengthPrefixed.encode([message] + units))
        frame.statistics.size = DataSize(bytes: frame.sample.data.count)
        self.frame = frame
        isRefresh = true
    }
}
