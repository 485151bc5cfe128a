internal import COpenSSL
package import NIOCore

extension BareTLSClient {
    /// A record of TLS 1.3 with a part of a handshake message, which the library itself only sends whole.
    ///
    /// It has to be the client's first after the handshake, and the last, because the library does not count it. The
    /// cipher suite is the library's first, `TLS_AES_256_GCM_SHA384`.
    package func handshakeRecord(_ part: [UInt8]) throws -> ByteBuffer {
        let content = part + [UInt8(SSL3_RT_HANDSHAKE)]
        let header = [UInt8(SSL3_RT_APPLICATION_DATA), 3, 3, 0, UInt8(content.count + Self.tagSize)]
        let cipher = try BareCertificate.require(EVP_CIPHER_CTX_new(), "cipher")
        defer { EVP_CIPHER_CTX_free(cipher) }
        var count: Int32 = 0
        var sealed = [UInt8](repeating: 0, count: content.count)
        var tag = [UInt8](repeating: 0, count: Self.tagSize)
        // The first record's number is zero, so that its nonce is the key's own.
        EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), nil, expand("key", to: 32), expand("iv", to: 12))
        EVP_EncryptUpdate(cipher, nil, &count, header, Int32(header.count))
        EVP_EncryptUpdate(cipher, &sealed, &count, content, Int32(content.count))
        EVP_EncryptFinal_ex(cipher, nil, &count)
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag)
        return ByteBuffer(bytes: header + sealed + tag)
    }

    private static let tagSize = 16

    /// HKDF-Expand-Label (RFC 8446, section 7.1), for no more bytes than a hash has.
    private func expand(_ label: String, to count: Int) -> [UInt8] {
        let secret = trafficSecret ?? []
        let name = "tls13 \(label)"
        let information = [0, UInt8(count), UInt8(name.utf8.count)] + Array(name.utf8) + [0, 1]
        var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        HMAC(EVP_sha384(), secret, Int32(secret.count), information, information.count, &hash, nil)
        return Array(hash.prefix(count))
    }
}
