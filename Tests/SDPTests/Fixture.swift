import Foundation
import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

/// An offer in `Fixtures`, whose README states its origin.
struct Fixture: CustomTestStringConvertible {
    var name: String

    var testDescription: String { name }

    var text: String {
        get throws {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Fixtures/\(name).sdp")
            return try String(contentsOf: file, encoding: .utf8)
        }
    }

    var offer: SessionDescription {
        get throws { try SessionDescription(parsing: text) }
    }

    /// Each joins, and is not about a session that there was before.
    static let joining = [
        "chromium-sendrecv", "chromium-recvonly", "chromium-sendonly", "chromium-simulcast",
        "chromium-two-videos-datachannel", "chromium-datachannel-first", "chromium-max-bundle-two-videos",
        "chromium-session-1-join", "webrtcbin-sendrecv", "webrtcbin-recvonly", "webrtcbin-sendonly-nack-fec",
        "webrtcbin-unbundled", "obs-whip", "ffmpeg-whip", "firefox-sendrecv", "safari-sendrecv", "whip-bundle-only",
    ].map(Fixture.init)

    /// The offers of one session, in their order.
    static let session = [
        "1-join", "2-screen", "3-screen-paused", "4-screen-stopped", "5-screen-anew", "6-ice-restart", "7-camera-off",
    ].map { Fixture(name: "chromium-session-\($0)") }

    /// The fixtures with these names.
    static func named(_ names: String...) -> [Fixture] { names.map(Fixture.init) }
}

extension AnswerPolicy {
    /// The relay's, with a certificate.
    static let overDTLS = AnswerPolicy(
        publicAddress: Answered.relay,
        alternativeAddresses: [TransportAddress(ipv6: (0x2001_0DB8_0000_0000, 5), port: 7000)],
        certificateFingerprint: CertificateFingerprint(digest: (0..<32).map { UInt8($0) }))
}

extension Answered {
    /// The answer of a relay with a certificate.
    static func overDTLS(_ offer: String) throws(SDPError) -> Answered { try Answered(offer, policy: .overDTLS) }
}

extension MediaDescription {
    /// The values of all attributes of this name.
    func values(_ name: String) -> [String] { attributes.filter { $0.name == name }.compactMap(\.value) }
}
