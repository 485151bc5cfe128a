internal import COpenSSL
internal import CSRTP
internal import MediaCore

/// The ciphers of SRTP as OpenSSL computes them, in the form in which libsrtp takes ciphers of others
/// (`srtp_replace_cipher_type`).
///
/// Debian builds libsrtp with NSS. NSS makes a new context for each packet: five allocations, a lock and a key
/// schedule. A context of OpenSSL lives as long as its key, and a packet only sets the initialization vector. libsrtp
/// checks the replacements with its own known answers and with those given here.
enum OpenSSLCipher {
    /// Replaces libsrtp's ciphers; call it once, after `srtp_init`.
    static func replaceLibraryCiphers() -> srtp_err_status_t {
        let status = srtp_replace_cipher_type(counterMode, counterMode.pointee.id)
        guard status == srtp_err_status_ok else { return status }
        return srtp_replace_cipher_type(galoisCounterMode, galoisCounterMode.pointee.id)
    }

    /// The context of one key, behind libsrtp's `srtp_cipher_t.state`.
    private struct State {
        let context: OpaquePointer
        /// Bytes of the authentication tag; 0 in counter mode.
        let tagLength: Int32
        /// The salt of counter mode, as a block whose last two bytes count the packet's blocks (RFC 3711, 4.1.1).
        var salt = Block.zero
    }

    private typealias Block = SIMD16<UInt8>
    private typealias CipherType = srtp_cipher_type_t
    private typealias Status = srtp_err_status_t

    private static let keyLength = 16
    private static let counterSaltLength = 14
    private static let galoisSaltLength = 12

    // MARK: The two types
    //
    // libsrtp keeps pointers to them for the process's life. `nonisolated(unsafe)` holds for them and for the known
    // answers, because nothing writes to the memory after the initialization, which Swift does once.

    /// `AES_CM_128`: AES in counter mode (RFC 3711, 4.1.1), which also derives the session keys of both profiles.
    nonisolated(unsafe) private static let counterMode: UnsafePointer<CipherType> = permanent(
        CipherType(
            alloc: { cipher, keyLength, _ in
                guard keyLength == OpenSSLCipher.keyLength + OpenSSLCipher.counterSaltLength else {
                    return srtp_err_status_bad_param
                }
                return OpenSSLCipher.allocate(
                    cipher, type: OpenSSLCipher.counterMode, keyLength: keyLength, tagLength: 0)
            },
            dealloc: { OpenSSLCipher.deallocate($0) },
            init: { state, key in OpenSSLCipher.startCounterMode(state, key: key) },
            set_aad: nil,
            encrypt: { state, buffer, length in OpenSSLCipher.encrypt(state, buffer, length) },
            decrypt: { state, buffer, length in OpenSSLCipher.encrypt(state, buffer, length) },
            set_iv: { state, vector, _ in OpenSSLCipher.setCounter(state, vector) },
            get_tag: nil,
            description: permanentText("AES-128 in counter mode by OpenSSL"),
            test_data: counterModeAnswer,
            id: srtp_cipher_type_id_t(SRTP_AES_ICM_128)))

    /// `AEAD_AES_128_GCM`: AES in Galois/counter mode (RFC 7714).
    nonisolated(unsafe) private static let galoisCounterMode: UnsafePointer<CipherType> = permanent(
        CipherType(
            alloc: { cipher, keyLength, tagLength in
                guard keyLength == OpenSSLCipher.keyLength + OpenSSLCipher.galoisSaltLength,
                    tagLength == 8 || tagLength == 16
                else { return srtp_err_status_bad_param }
                return OpenSSLCipher.allocate(
                    cipher, type: OpenSSLCipher.galoisCounterMode, keyLength: keyLength, tagLength: tagLength)
            },
            dealloc: { OpenSSLCipher.deallocate($0) },
            init: { state, key in OpenSSLCipher.startGaloisCounterMode(state, key: key) },
            set_aad: { state, bytes, length in OpenSSLCipher.authenticate(state, bytes, length) },
            encrypt: { state, buffer, length in OpenSSLCipher.encrypt(state, buffer, length) },
            decrypt: { state, buffer, length in OpenSSLCipher.decryptAndVerify(state, buffer, length) },
            set_iv: { state, vector, direction in OpenSSLCipher.setNonce(state, vector, direction) },
            get_tag: { state, tag, length in OpenSSLCipher.takeTag(state, tag, length) },
            description: permanentText("AES-128 in Galois/counter mode by OpenSSL"),
            test_data: galoisCounterModeAnswer,
            id: srtp_cipher_type_id_t(SRTP_AES_GCM_128)))

    // MARK: A key's life

    private static func allocate(
        _ cipher: UnsafeMutablePointer<srtp_cipher_pointer_t?>?, type: UnsafePointer<CipherType>, keyLength: Int32,
        tagLength: Int32
    ) -> Status {
        guard let cipher, let context = EVP_CIPHER_CTX_new() else { return srtp_err_status_alloc_fail }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State(context: context, tagLength: tagLength))
        let made = UnsafeMutablePointer<srtp_cipher_t>.allocate(capacity: 1)
        made.initialize(
            to: srtp_cipher_t(type: type, state: state, key_len: keyLength, algorithm: Int32(type.pointee.id)))
        cipher.pointee = made
        return srtp_err_status_ok
    }

    private static func deallocate(_ cipher: srtp_cipher_pointer_t?) -> Status {
        guard let cipher, let state = cipher.pointee.state?.assumingMemoryBound(to: State.self) else {
            return srtp_err_status_bad_param
        }
        // OpenSSL wipes the key with its context.
        EVP_CIPHER_CTX_free(state.pointee.context)
        state.pointee.salt = .zero
        state.deallocate()
        cipher.deallocate()
        return srtp_err_status_ok
    }

    private static func startCounterMode(_ state: UnsafeMutableRawPointer?, key: UnsafePointer<UInt8>?) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let key else { return srtp_err_status_bad_param }
        var salt = Block.zero
        for index in 0..<counterSaltLength { salt[index] = key[keyLength + index] }
        state.pointee.salt = salt
        return status(EVP_EncryptInit_ex(state.pointee.context, EVP_aes_128_ctr(), nil, key, nil))
    }

    private static func startGaloisCounterMode(
        _ state: UnsafeMutableRawPointer?, key: UnsafePointer<UInt8>?
    ) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let key else { return srtp_err_status_bad_param }
        return status(EVP_EncryptInit_ex(state.pointee.context, EVP_aes_128_gcm(), nil, key, nil))
    }

    // MARK: A packet

    private static func setCounter(_ state: UnsafeMutableRawPointer?, _ vector: UnsafePointer<UInt8>?) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let vector else {
            return srtp_err_status_bad_param
        }
        let counter = state.pointee.salt ^ UnsafeRawPointer(vector).loadUnaligned(as: Block.self)
        return withUnsafeBytes(of: counter) {
            status(EVP_EncryptInit_ex(state.pointee.context, nil, nil, nil, $0.baseAddress))
        }
    }

    private static func setNonce(
        _ state: UnsafeMutableRawPointer?, _ vector: UnsafePointer<UInt8>?, _ direction: srtp_cipher_direction_t
    ) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let vector else {
            return srtp_err_status_bad_param
        }
        let encrypts: Int32 = direction == srtp_direction_encrypt ? 1 : 0
        return status(EVP_CipherInit_ex(state.pointee.context, nil, nil, nil, vector, encrypts))
    }

    private static func authenticate(
        _ state: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ length: UInt32
    ) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let length = Int32(exactly: length) else {
            return srtp_err_status_bad_param
        }
        var written: Int32 = 0
        return status(EVP_CipherUpdate(state.pointee.context, nil, &written, bytes, length))
    }

    private static func encrypt(
        _ state: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?,
        _ length: UnsafeMutablePointer<UInt32>?
    ) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let length,
            let count = Int32(exactly: length.pointee)
        else { return srtp_err_status_bad_param }
        var written: Int32 = 0
        return status(EVP_CipherUpdate(state.pointee.context, buffer, &written, buffer, count))
    }

    private static func takeTag(
        _ state: UnsafeMutableRawPointer?, _ tag: UnsafeMutablePointer<UInt8>?,
        _ length: UnsafeMutablePointer<UInt32>?
    ) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let tag, let length else {
            return srtp_err_status_bad_param
        }
        var written: Int32 = 0
        guard EVP_CipherFinal_ex(state.pointee.context, tag, &written) == 1,
            EVP_CIPHER_CTX_ctrl(state.pointee.context, EVP_CTRL_AEAD_GET_TAG, state.pointee.tagLength, tag) == 1
        else { return srtp_err_status_algo_fail }
        length.pointee = UInt32(state.pointee.tagLength)
        return srtp_err_status_ok
    }

    /// Decrypts `buffer`, at whose end the tag is, and takes the tag off its length.
    private static func decryptAndVerify(
        _ state: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?,
        _ length: UnsafeMutablePointer<UInt32>?
    ) -> Status {
        guard let state = state?.assumingMemoryBound(to: State.self), let buffer, let length,
            let whole = Int32(exactly: length.pointee), whole >= state.pointee.tagLength
        else { return srtp_err_status_bad_param }
        let count = whole - state.pointee.tagLength
        let tag = buffer + Int(count)
        var written: Int32 = 0
        guard EVP_CIPHER_CTX_ctrl(state.pointee.context, EVP_CTRL_AEAD_SET_TAG, state.pointee.tagLength, tag) == 1,
            EVP_CipherUpdate(state.pointee.context, buffer, &written, buffer, count) == 1
        else { return srtp_err_status_algo_fail }
        // Nothing is written: both profiles' ciphers hold back no bytes.
        guard EVP_CipherFinal_ex(state.pointee.context, tag, &written) == 1 else { return srtp_err_status_auth_fail }
        length.pointee = UInt32(count)
        return srtp_err_status_ok
    }

    private static func status(_ succeeded: Int32) -> Status {
        succeeded == 1 ? srtp_err_status_ok : srtp_err_status_cipher_fail
    }

    // MARK: Known answers

    /// The key stream of RFC 3711, B.2.
    nonisolated(unsafe) private static let counterModeAnswer = answer(
        key: "2b7e151628aed2a6abf7158809cf4f3c f0f1f2f3f4f5f6f7f8f9fafbfcfd",
        vector: "00000000000000000000000000000000",
        plaintext: "00000000000000000000000000000000 00000000000000000000000000000000",
        ciphertext: "e03ead0935c95e80e166b16dd92b4eb4 d23513162b02d0f72a43a2fe4a5f97ab")

    /// Test case 4 of "The Galois/Counter Mode of Operation" (McGrew and Viega, 2005); the salt is not part of it.
    nonisolated(unsafe) private static let galoisCounterModeAnswer = answer(
        key: "feffe9928665731c6d6a8f9467308308 000000000000000000000000",
        vector: "cafebabefacedbaddecaf888",
        plaintext: """
            d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39
            """,
        ciphertext: """
            42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e
            21d514b25466931c7d8f6a5aac84aa05 1ba30b396a0aac973d58e091 5bc94fbc3221a5db94fae95ae7121a47
            """,
        additional: "feedfacedeadbeeffeedfacedeadbeefabaddad2", tagLength: 16)

    private static func answer(
        key: String, vector: String, plaintext: String, ciphertext: String, additional: String = "",
        tagLength: Int32 = 0
    ) -> UnsafePointer<srtp_cipher_test_case_t> {
        let (key, plaintext, ciphertext, additional) = (
            permanentBytes(key), permanentBytes(plaintext), permanentBytes(ciphertext), permanentBytes(additional)
        )
        return permanent(
            srtp_cipher_test_case_t(
                key_length_octets: Int32(key.count), key: UnsafePointer(key.baseAddress),
                idx: permanentBytes(vector).baseAddress,
                plaintext_length_octets: UInt32(plaintext.count), plaintext: UnsafePointer(plaintext.baseAddress),
                ciphertext_length_octets: UInt32(ciphertext.count), ciphertext: UnsafePointer(ciphertext.baseAddress),
                aad_length_octets: Int32(additional.count), aad: UnsafePointer(additional.baseAddress),
                tag_length_octets: tagLength, next_test_case: nil))
    }

    /// Puts a value where it stays for the process's life.
    private static func permanent<Value>(_ value: Value) -> UnsafePointer<Value> {
        let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        place.initialize(to: value)
        return UnsafePointer(place)
    }

    private static func permanentText(_ text: String) -> UnsafePointer<CChar> {
        let characters = Array(text.utf8CString)
        let place = UnsafeMutablePointer<CChar>.allocate(capacity: characters.count)
        place.initialize(from: characters, count: characters.count)
        return UnsafePointer(place)
    }

    /// Bytes written as hexadecimal digits, with white space between groups.
    private static func permanentBytes(_ digits: String) -> UnsafeMutableBufferPointer<UInt8> {
        let bytes = [UInt8](hexadecimal: digits.utf8.filter { $0.hexadecimalDigitValue != nil }) ?? []
        let place = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = place.initialize(from: bytes)
        return place
    }
}
