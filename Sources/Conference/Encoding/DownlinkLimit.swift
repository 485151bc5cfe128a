import CongestionControl
import EncoderSharing
import MediaCore
import PeerConnection

/// Why a participant's picture is no better.
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

    /// What keeps the pictures from being better at this moment, the relay's own load aside.
    var limit: DownlinkLimit? {
        let bits = Double(bitRate.sustained.bitsPerSecond)
        let pixels = Double(rung.dimensions.area) * Double(rung.frameRate)
        if isRungReduced || bits < pixels * Self.softBelow { return .network }
        return format.isSmallerThanCanvas ? .receiver : nil
    }
}
