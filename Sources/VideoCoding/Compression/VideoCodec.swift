/// The codec of a stream.
public enum VideoCodec: String, CaseIterable, Sendable {
    /// ITU-T H.264, MPEG-4 AVC.
    case h264
}
