/// The master key and master salt of one direction, and the profile they are for.
public struct SRTPKeyMaterial: Hashable, Sendable {
    public let profile: SRTPProfile
    /// The master key followed by the master salt; always `profile.masterKeyMaterialLength` bytes.
    public let masterKeyAndSalt: [UInt8]

    /// Key material from its bytes; nil when their number is not `profile.masterKeyMaterialLength`.
    public init?(profile: SRTPProfile, masterKeyAndSalt: [UInt8]) {
        guard masterKeyAndSalt.count == profile.masterKeyMaterialLength else { return nil }
        self.profile = profile
        self.masterKeyAndSalt = masterKeyAndSalt
    }

    /// New key material. Outside tests the generator has to be a cryptographic one: `SystemRandomNumberGenerator`.
    public init(profile: SRTPProfile, using generator: inout some RandomNumberGenerator) {
        self.profile = profile
        masterKeyAndSalt = (0..<profile.masterKeyMaterialLength).map { _ in generator.next() }
    }

    /// Reads the key-and-salt field of an SDES `inline:` parameter: base 64 without the fields after `|`
    /// (RFC 4568, 6.1). Nil when it is not base 64 or not as long as the profile asks.
    public init?(sdesInline: String, profile: SRTPProfile) {
        // Text of the right length decodes to at most the right number of bytes: nothing longer is looked at.
        guard sdesInline.utf8.count <= (profile.masterKeyMaterialLength + 2) / 3 * 4,
            let bytes = Base64.decode(sdesInline)
        else { return nil }
        self.init(profile: profile, masterKeyAndSalt: bytes)
    }

    /// The key-and-salt field of an SDES `inline:` parameter.
    public var sdesInline: String { Base64.encode(masterKeyAndSalt) }
}

extension SRTPKeyMaterial: CustomStringConvertible {
    /// The profile alone: keys have no place in logs.
    public var description: String { "SRTPKeyMaterial(\(profile.cryptoSuiteName))" }
}
