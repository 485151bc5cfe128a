public import MediaCore

/// The format parameters of an Opus payload type (RFC 7587, 6.1): the describing side's requests for the audio that it
/// *receives*.
public struct OpusFormatParameters: Hashable, Sendable {
    /// `stereo`: stereo is preferred to mono.
    public var stereo: Bool
    /// `useinbandfec`: in-band forward error correction is useful.
    public var usesInbandFEC: Bool
    /// `usedtx`: discontinuous transmission is preferred.
    public var usesDTX: Bool
    /// `cbr`: constant bitrate is preferred.
    public var constantBitRate: Bool
    /// `maxaveragebitrate`, within 6 to 510 kbit/s.
    public var maximumAverageBitRate: BitRate?
    /// `maxplaybackrate`, in hertz.
    public var maximumPlaybackRate: Int?
    /// `a=ptime`: the preferred packet duration.
    public var packetTime: Duration?
    /// `a=maxptime`: the longest accepted packet duration.
    public var maximumPacketTime: Duration?

    public init(
        stereo: Bool = false, usesInbandFEC: Bool = true, usesDTX: Bool = false, constantBitRate: Bool = false,
        maximumAverageBitRate: BitRate? = nil, maximumPlaybackRate: Int? = nil, packetTime: Duration? = nil,
        maximumPacketTime: Duration? = nil
    ) {
        self.stereo = stereo
        self.usesInbandFEC = usesInbandFEC
        self.usesDTX = usesDTX
        self.constantBitRate = constantBitRate
        self.maximumAverageBitRate = maximumAverageBitRate
        self.maximumPlaybackRate = maximumPlaybackRate
        self.packetTime = packetTime
        self.maximumPacketTime = maximumPacketTime
    }
}
