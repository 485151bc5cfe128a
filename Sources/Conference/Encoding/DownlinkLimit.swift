import CongestionControl
import EncoderSharing
import MediaCore

/// The reason for which a participant's picture is not better.
public enum DownlinkLimit: String, Codable, Sendable {
    /// The network is believed to carry no more.
    case network
    /// The receiver decodes no larger pictures, as its offer says.
    case receiver
    /// The relay had no time to encode some of the pictures.
    case processing
}

extension EncodeGroup {
    /// Bits a pixel below which composed pictures look softer than their sources.
    private static let softBelow = 0.03

    /// The present limit of the picture's quality, apart from the relay's own load.
    var limit: DownlinkLimit? {
        let bits = Double(bitRate.sustained.bitsPerSecond)
        let pixels = Double(rung.dimensions.area) * Double(rung.frameRate)
        if isRungReduced || bits < pixels * Self.softBelow { return .network }
        return format.isSmallerThanCanvas ? .receiver : nil
    }
}
