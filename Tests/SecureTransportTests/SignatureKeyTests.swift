import Testing

@testable import SecureTransport

@Suite("Signatures and hashes")
struct SignatureKeyTests {
    private static func bytes(_ base64URL: String) throws -> [UInt8] {
        try #require(Base64.decode(base64URL.replacing("-", with: "+").replacing("_", with: "/")))
    }

    /// Examples of RFC 7515 (A.3) and RFC 8037 (A.1, A.4).
    private static let examples:
        [(kind: SignatureKey.Kind, secret: String, point: [String], text: String, code: String)] = [
            (
                .p256, "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
                ["f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"],
                "eyJhbGciOiJFUzI1NiJ9."
                    + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
            ),
            (
                .ed25519, "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
                ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
                "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
            ),
        ]

    @Test("the examples of RFC 7515 and RFC 8037 hold: public halves, signatures, and no signature of another message")
    func examples() throws {
        for example in Self.examples {
            let point = try example.point.flatMap(Self.bytes)
            let whole = try #require(SignatureKey(example.kind, secret: Self.bytes(example.secret)))
            let half = try #require(SignatureKey(example.kind, publicKey: point))
            #expect(whole.publicKey == point && half.publicKey == point && half.secret == nil)
            let message = Array(example.text.utf8)
            let signature = try Self.bytes(example.code)
            for key in [whole, half] {
                #expect(key.isSignature(signature, of: message))
                #expect(!key.isSignature(signature, of: message + [0]))
                #expect(!key.isSignature(signature.dropLast() + [signature[63] ^ 1], of: message))
            }
            let own = try #require(whole.signature(of: message))
            #expect(half.isSignature(own, of: message))
            // Ed25519 takes no random number.
            if example.kind == .ed25519 { #expect(own == signature) }
            #expect(half.signature(of: message) == nil)
        }
    }

    @Test(
        "a new key signs; its secret and its public half make the same key again", arguments: SignatureKey.Kind.allCases
    )
    func making(kind: SignatureKey.Kind) throws {
        let key = try #require(SignatureKey(making: kind))
        let other = try #require(SignatureKey(making: kind))
        #expect(key.secret != other.secret)
        // Numbers of ECDSA with leading zeros come once in 256.
        for number in 0..<600 {
            let message = Array("\(number)".utf8)
            let signature = try #require(key.signature(of: message))
            #expect(signature.count == 64 && key.isSignature(signature, of: message))
        }
        let secret = try #require(key.secret)
        let again = try #require(SignatureKey(kind, secret: secret))
        #expect(again.publicKey == key.publicKey)
        let signature = try #require(again.signature(of: [1, 2, 3]))
        #expect(SignatureKey(kind, publicKey: key.publicKey)?.isSignature(signature, of: [1, 2, 3]) == true)
        #expect(!other.isSignature(signature, of: [1, 2, 3]))
    }

    @Test("bytes that are no key make none; bytes that are no signature are none")
    func malformed() throws {
        // The order of P-256's group, and the numbers beside it.
        let order: [UInt8] =
            Array(repeating: 0xFF, count: 4) + Array(repeating: 0, count: 4) + Array(repeating: 0xFF, count: 8)
            + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]
        #expect(SignatureKey(.p256, secret: order) == nil)
        #expect(SignatureKey(.p256, secret: Array(repeating: 0xFF, count: 32)) == nil)
        #expect(SignatureKey(.p256, secret: Array(repeating: 0, count: 32)) == nil)
        #expect(SignatureKey(.p256, secret: order.dropLast() + [0x50]) != nil)
        for kind in SignatureKey.Kind.allCases {
            for count in [0, 1, 31, 33, 63, 65, 4096] {
                #expect(SignatureKey(kind, secret: Array(repeating: 1, count: count)) == nil)
                #expect(SignatureKey(kind, publicKey: Array(repeating: 1, count: count)) == nil)
            }
            let key = try #require(SignatureKey(making: kind))
            for count in [0, 1, 63, 64, 65, 72] {
                for byte: UInt8 in [0, 1, 0x30, 0xFF] {
                    #expect(!key.isSignature(Array(repeating: byte, count: count), of: []))
                }
            }
        }
        // No point of the curve.
        #expect(SignatureKey(.p256, publicKey: Array(repeating: 1, count: 64)) == nil)
    }

    @Test("hashes are those of FIPS 180-4 and RFC 7914")
    func hashes() throws {
        #expect(
            SecureHash.sha256(Array("abc".utf8)).prefix(8) == [0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA][...])
        let key = try #require(
            SecureHash.scrypt(
                Array("pleaseletmein".utf8), salt: Array("SodiumChloride".utf8), rounds: 1 << 14, blockSize: 8,
                parallelism: 1, size: 64))
        #expect(
            key == [
                0x70, 0x23, 0xBD, 0xCB, 0x3A, 0xFD, 0x73, 0x48, 0x46, 0x1C, 0x06, 0xCD, 0x81, 0xFD, 0x38, 0xEB, 0xFD,
                0xA8,
                0xFB, 0xBA, 0x90, 0x4F, 0x8E, 0x3E, 0xA9, 0xB5, 0x43, 0xF6, 0x54, 0x5D, 0xA1, 0xF2, 0xD5, 0x43, 0x29,
                0x55,
                0x61, 0x3F, 0x0F, 0xCF, 0x62, 0xD4, 0x97, 0x05, 0x24, 0x2A, 0x9A, 0xF9, 0xE6, 0x1E, 0x85, 0xDC, 0x0D,
                0x65,
                0x1E, 0x40, 0xDF, 0xCF, 0x01, 0x7B, 0x45, 0x57, 0x58, 0x87,
            ])
        #expect(SecureHash.scrypt([], salt: []) != nil)
    }
}
