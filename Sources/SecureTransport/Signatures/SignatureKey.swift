internal import COpenSSL

/// A key that signs, or only checks signatures.
///
/// Keys and signatures are bytes as in JSON Web Keys and Signatures (RFC 7518, sections 3.4 and 6.2; RFC 8037).
public struct SignatureKey: Sendable {
    /// The kind of a key.
    public enum Kind: Sendable, CaseIterable {
        /// ECDSA on the curve P-256 with SHA-256. A secret has 32 bytes, a public key 64 (x, y), a signature 64 (r, s).
        case p256
        /// Ed25519. A secret and a public key have 32 bytes, a signature 64.
        case ed25519
    }

    public let kind: Kind
    /// The secret that signs; nil: this key only checks.
    public let secret: [UInt8]?
    public let publicKey: [UInt8]

    private let handle: Handle

    private static let secretSize = 32
    private static let signatureSize = 64

    /// Makes a new key; nil if the library refuses.
    public init?(making kind: Kind) {
        var secret = [UInt8](repeating: 0, count: Self.secretSize)
        guard RAND_priv_bytes(&secret, Int32(secret.count)) == 1 else { return nil }
        self.init(kind, secret: secret)
    }

    /// A key that signs; nil unless the bytes are a secret of this kind.
    public init?(_ kind: Kind, secret: [UInt8]) {
        defer { ERR_clear_error() }
        guard secret.count == Self.secretSize else { return nil }
        let handle =
            switch kind {
            case .p256: Handle(readingPrivateKey: P256Encoding.privateKey(secret))
            case .ed25519: Handle(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, secret, secret.count))
            }
        guard let handle, kind == .ed25519 || handle.isSecretInRange, let publicKey = handle.publicKey(kind) else {
            return nil
        }
        self.kind = kind
        self.secret = secret
        self.publicKey = publicKey
        self.handle = handle
    }

    /// A key that only checks; nil unless the bytes are a public key of this kind.
    public init?(_ kind: Kind, publicKey: [UInt8]) {
        defer { ERR_clear_error() }
        let handle =
            switch kind {
            case .p256: P256Encoding.publicKey(publicKey).flatMap { Handle(readingPublicKey: $0) }
            case .ed25519: Handle(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, publicKey, publicKey.count))
            }
        guard let handle else { return nil }
        self.kind = kind
        self.secret = nil
        self.publicKey = publicKey
        self.handle = handle
    }

    /// Signs a message.
    ///
    /// - Returns: The signature's 64 bytes; nil if this key only checks.
    public func signature(of message: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard secret != nil, let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, nil, digest, nil, handle.pointer) == 1 else { return nil }
        var size = 128
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            let isSigned = EVP_DigestSign(context, bytes.baseAddress, &size, message, message.count) == 1
            count = isSigned ? size : 0
        }
        let signature = kind == .p256 ? P256Encoding.signature(decoding: bytes) : bytes
        return signature?.count == Self.signatureSize ? signature : nil
    }

    /// Returns true if the bytes are this key's signature of a message.
    public func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard signature.count == Self.signatureSize,
            let bytes = kind == .p256 ? P256Encoding.encoded(signature: signature) : signature,
            let context = EVP_MD_CTX_new()
        else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, digest, nil, handle.pointer) == 1
            && EVP_DigestVerify(context, bytes, bytes.count, message, message.count) == 1
    }

    /// Ed25519 has a hash function of its own.
    private var digest: OpaquePointer? { kind == .p256 ? EVP_sha256() : nil }
}

/// An `EVP_PKEY *`. `@unchecked Sendable`: the library only reads a key, and guards what it caches with it.
private final class Handle: @unchecked Sendable {
    let pointer: OpaquePointer

    init?(_ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    convenience init?(readingPrivateKey bytes: [UInt8]) {
        self.init(
            bytes.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                return d2i_AutoPrivateKey(nil, &start, bytes.count)
            })
    }

    convenience init?(readingPublicKey bytes: [UInt8]) {
        self.init(
            bytes.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                return d2i_PUBKEY(nil, &start, bytes.count)
            })
    }

    deinit { EVP_PKEY_free(pointer) }

    /// True if a secret of P-256 is a number of the curve's group. Ed25519 takes any bytes.
    var isSecretInRange: Bool {
        guard let context = EVP_PKEY_CTX_new(pointer, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_private_check(context) == 1
    }

    /// The public half; nil if the library refuses.
    func publicKey(_ kind: SignatureKey.Kind) -> [UInt8]? {
        var size = P256Encoding.pointSize
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            let isRead =
                switch kind {
                case .p256:
                    EVP_PKEY_get_octet_string_param(
                        pointer, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, bytes.baseAddress, bytes.count, &size) == 1
                case .ed25519: EVP_PKEY_get_raw_public_key(pointer, bytes.baseAddress, &size) == 1
                }
            count = isRead ? size : 0
        }
        switch kind {
        case .p256: return bytes.count == P256Encoding.pointSize ? Array(bytes.dropFirst()) : nil
        case .ed25519: return bytes.isEmpty ? nil : bytes
        }
    }
}

/// Keys and signatures of P-256 in ASN.1, as the library takes and gives them.
private enum P256Encoding {
    /// Bytes of a point that is not compressed (SEC 1, section 2.3.3): 4, x, y.
    static let pointSize = 65

    private static let numberSize = 32

    /// `PrivateKeyInfo` of RFC 5208 up to the secret in `ECPrivateKey` (RFC 5915), without the public half.
    private static let privateKeyPrefix: [UInt8] = [
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A,
        0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]
    /// `SubjectPublicKeyInfo` of RFC 5480 up to the point's x.
    private static let publicKeyPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    static func privateKey(_ secret: [UInt8]) -> [UInt8] { privateKeyPrefix + secret }

    /// Nil unless there are 64 bytes.
    static func publicKey(_ point: [UInt8]) -> [UInt8]? {
        point.count == pointSize - 1 ? publicKeyPrefix + point : nil
    }

    /// Two numbers of 32 bytes as `ECDSA-Sig-Value` (RFC 3279, section 2.2.3).
    static func encoded(signature: [UInt8]) -> [UInt8]? {
        guard let value = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(value) }
        let r = BN_bin2bn(signature, Int32(numberSize), nil)
        let s = BN_bin2bn(Array(signature.suffix(numberSize)), Int32(numberSize), nil)
        // From here the numbers are the value's.
        guard ECDSA_SIG_set0(value, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        let size = Int(i2d_ECDSA_SIG(value, nil))
        guard size > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            var end = bytes.baseAddress
            count = max(0, Int(i2d_ECDSA_SIG(value, &end)))
        }
    }

    static func signature(decoding bytes: [UInt8]) -> [UInt8]? {
        let value = bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let value else { return nil }
        defer { ECDSA_SIG_free(value) }
        return [UInt8](unsafeUninitializedCapacity: 2 * numberSize) { bytes, count in
            let isWritten =
                BN_bn2binpad(ECDSA_SIG_get0_r(value), bytes.baseAddress, Int32(numberSize)) == numberSize
                && BN_bn2binpad(
                    ECDSA_SIG_get0_s(value), bytes.baseAddress?.advanced(by: numberSize), Int32(numberSize))
                    == numberSize
            count = isWritten ? 2 * numberSize : 0
        }
    }
}
