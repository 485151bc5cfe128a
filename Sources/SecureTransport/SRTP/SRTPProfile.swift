/// The encryption and authentication of SRTP and SRTCP packets.
public enum SRTPProfile: Hashable, Sendable, CaseIterable {
    /// AES-128 in Galois/Counter Mode with a 16-byte tag (RFC 7714). Several times cheaper than the other.
    case aeadAES128GCM
    /// AES-128 in counter mode with an 80-bit HMAC-SHA1 (RFC 3711): what every SRTP implementation has.
    // swift-format-ignore: AlwaysUseLowerCamelCase, for the name is the suite's.
    case aesCM128HMACSHA1_80

    /// The profile with this name in SDP (RFC 4568, 6.2; RFC 7714, 14.2); nil for unsupported ones.
    public init?(cryptoSuiteName: some StringProtocol) {
        guard let profile = Self.allCases.first(where: { $0.cryptoSuiteName == cryptoSuiteName }) else { return nil }
        self = profile
    }

    /// The name in SDP's `a=crypto`.
    public var cryptoSuiteName: String {
        switch self {
        case .aeadAES128GCM: "AEAD_AES_128_GCM"
        case .aesCM128HMACSHA1_80: "AES_CM_128_HMAC_SHA1_80"
        }
    }

    /// Bytes of the master key.
    public var keyLength: Int { 16 }

    /// Bytes of the master salt.
    public var saltLength: Int {
        switch self {
        case .aeadAES128GCM: 12
        case .aesCM128HMACSHA1_80: 14
        }
    }

    /// Bytes of the master key and the master salt together, as SDP carries them.
    public var masterKeyMaterialLength: Int { keyLength + saltLength }

    /// Bytes that protecting adds to an RTP packet.
    public var rtpTrailerLength: Int {
        switch self {
        case .aeadAES128GCM: 16
        case .aesCM128HMACSHA1_80: 10
        }
    }

    /// Bytes that protecting adds to an RTCP packet: the tag and the index with the E flag.
    public var rtcpTrailerLength: Int { rtpTrailerLength + 4 }
}
