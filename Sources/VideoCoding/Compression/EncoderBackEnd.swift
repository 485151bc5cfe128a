/// The library that encodes.
public enum EncoderBackEnd: String, CaseIterable, Sendable {
    /// OpenH264: made for calls; follows a new bitrate from the next frame on. The default.
    case openH264 = "openh264"
    /// x264: the better picture where time is cheap. Needs the package trait `X264`.
    case x264
    /// A GPU's encoder, through VA-API. Needs the package trait `VAAPI`, and a device: see `VAAPIDevice`.
    case vaapi

    /// True if this build has the back end.
    public var isBuilt: Bool {
        switch self {
        case .openH264: return true
        case .x264:
            #if X264
                return true
            #else
                return false
            #endif
        case .vaapi:
            #if VAAPI
                return true
            #else
                return false
            #endif
        }
    }

    /// The back ends that need no device.
    public static let software: [EncoderBackEnd] = [.openH264, .x264]
}

/// The time that an encoder takes for a better picture.
public enum EncoderPreset: String, CaseIterable, Sendable {
    /// OpenH264's low complexity, x264's `superfast`.
    case fastest
    /// OpenH264's medium complexity, x264's `veryfast`.
    case balanced
    /// OpenH264's high complexity, x264's `fast`.
    case quality
}
