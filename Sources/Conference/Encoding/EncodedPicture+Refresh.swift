import EncoderSharing
import H264
import MediaCore
import VideoCoding

extension EncodedPicture {
    /// Says of a frame that was to refer to nothing but what its receiver has that it is so: with the message "recovery
    /// point", by which the receiver goes on there.
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
