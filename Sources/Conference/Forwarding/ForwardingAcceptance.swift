import MediaCore
import SDP

/// Formats of other senders' streams that a receiver's decoder takes, as negotiated.
struct ForwardingAcceptance: Hashable {
    /// The receiver's profile; nil if it is unknown here.
    private let profile: H264Profile?
    /// The receiver's level; nil if it did not state one.
    private let level: H264ProfileLevelID.Level?
    private let packetizationMode: UInt8
    /// True if the receiver rotates pictures itself.
    let tellsRotation: Bool
    /// True if the receiver requests a keyframe when it needs one.
    let asksForKeyframes: Bool

    init(_ media: NegotiatedMedia) {
        // Without a `profile-level-id` the RFC infers Baseline, of which every decoder takes the constrained part.
        let named = media.h264?.profileLevelID
        profile = named.map { $0.profile } ?? .constrainedBaseline
        level = named?.level
        packetizationMode = UInt8(clamping: media.packetizationMode)
        tellsRotation = media.outboundExtensionIDs.videoOrientation != nil
        asksForKeyframes = media.feedback.pli || media.feedback.fir
    }

    /// Returns the reason for which a stream of this format is not accepted; nil if it is.
    func obstacle(
        profileLevel: H264ProfileLevelID, packetizationMode sent: Int
    ) -> ForwardingObstacle? {
        guard takes(profileLevel.profile) else { return .profile }
        if let level, profileLevel.level > level { return .level }
        return sent > Int(packetizationMode) ? .packetization : nil
    }

    /// Each profile's decoders take the constrained part of Baseline too; High's take Main.
    private func takes(_ sent: H264Profile?) -> Bool {
        guard let sent, let profile else { return false }
        return switch sent {
        case .constrainedBaseline: true
        case .baseline: profile == .baseline
        case .main: profile == .main || profile == .high
        case .high: profile == .high
        }
    }
}
