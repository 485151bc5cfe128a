import RoomAPI
import SecureTransport
import Testing

@testable import RelayServer

/// Tokens and key files that other programs make.
@Suite struct AccessKeysTests {
    private let secret = [UInt8](repeating: 0xFB, count: 32)

    private func keys(secret text: String) throws -> AccessKeys {
        try AccessKeys(parsing: #"{"keys":[{"kty":"oct","kid":"main","k":"\#(text)"}]}"#)
    }

    @Test("a token whose header names another algorithm or key, or an extension, is none, though rightly signed")
    func headers() throws {
        let keys = try keys(secret: Base64URL.encode(secret))
        let claims = try keys.sign(AccessClaims(room: "demo")).split(separator: ".")[1]
        for (header, isGood) in [
            (#"{"alg":"HS256","kid":"main"}"#, true), (#"{"alg":"HS256","typ":"at+jwt"}"#, true),
            (#"{"alg":"ES256","kid":"main"}"#, false), (#"{"alg":"none","kid":"main"}"#, false),
            (#"{"alg":"hs256"}"#, false), (#"{"alg":"HS256","kid":"other"}"#, false), (#"{"kid":"main"}"#, false),
            (#"{"alg":"HS256","crit":["exp"]}"#, false), (#"{"alg":"HS256","crit":[]}"#, false),
        ] {
            let message = "\(Base64URL.encode(Array(header.utf8))).\(claims)"
            let code = try #require(KeyedHash(key: secret).code(of: message))
            let token = "\(message).\(Base64URL.encode(code))"
            #expect((keys.claims(of: token)?.room == "demo") == isGood, "\(header)")
            for other in ["\(token)=", "\(token).", ".\(token)", "\(message)."] {
                #expect(keys.claims(of: other) == nil, "\(header)")
            }
        }
    }

    @Test("a secret in the Base64 of e-mails, or with padding, is refused with the form that it needs")
    func forms() throws {
        let text = Base64URL.encode(secret)
        _ = try keys(secret: text)
        for other in ["\(text)=", text.replacing("-", with: "+").replacing("_", with: "/")] {
            let failure = try #require(throws: AccessKeys.Failure.self) { try keys(secret: other) }
            #expect(failure.description.contains("Base64 for URLs without padding"))
        }
    }
}
