import MediaCore
import NIOCore

@testable import SecureTransport

/// Credentials, addresses and hand-made checks for tests.
enum ICEFixture {
    static let relay = ICECredentials(usernameFragment: "relay123", password: "relaypasswordrelaypass01")
    static let relayKey = HMACSHA1Key(Array(relay.password.utf8))
    static let client = ICECredentials(usernameFragment: "Clnt", password: "clientpasswordclientpa")
    static let otherRelay = ICECredentials(usernameFragment: "relay456", password: "anotherpasswordofrelay02")
    static let otherClient = ICECredentials(usernameFragment: "Othr", password: "anotherpasswordofclien")

    static func address(_ host: UInt8, port: UInt16 = 50_000) -> TransportAddress {
        TransportAddress(ipv4: 0xC000_0200 | UInt32(host), port: port)
    }

    static func at(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }

    /// A check as browsers send it.
    static func check(
        _ number: UInt64, to receiver: ICECredentials = relay, from sender: ICECredentials = client,
        role: STUNMessage.Role? = .controlling(tieBreaker: 9), nominates: Bool = false, password: String? = nil
    ) -> ByteBuffer {
        let key = ICECheckKey(receiver: receiver, sender: sender)
        var builder = STUNMessageBuilder(.request, transactionID: STUNTransactionID(high: 1, low: number))
        builder.append(username: key.username)
        builder.append(priority: 1_853_824_767)
        if let role { builder.append(role) }
        if nominates { builder.appendUseCandidate() }
        builder.appendIntegrity(key: password.map { HMACSHA1Key(Array($0.utf8)) } ?? key.password)
        return builder.finish()
    }
}
