import Conference
import Logging
import MediaCore
import RoomAPI
import SecureTransport
import VectorGraphics

/// Writes a relay's notices to the log: joins, leaves, and packets that fail authentication.
struct RelayLog: Sendable {
    let logger: Logger

    func record(_ notice: RelayNotice) {
        switch notice {
        case .joined, .connected, .left, .fellSilent: logger.info("\(Self.line(notice))")
        case .authenticationFailed: logger.notice("\(Self.line(notice))")
        case .deviceFailed, .compositionDeviceFailed: logger.warning("\(Self.line(notice))")
        }
    }

    static func line(_ notice: RelayNotice) -> String {
        switch notice {
        case .joined(let member):
            let address = member.address.map { ", from \($0.host)" } ?? ""
            return "joined: \(words(member)), \(words(member.role))\(address)"
        case .connected(let member, let duration):
            return "connected: \(words(member)), after \(NumberText.fixed(duration.seconds, 2)) s"
        case .left(let member, let reason, let duration):
            return "left: \(words(member)), after \(NumberText.fixed(duration.seconds, 0)) s: \(words(reason))"
        case .fellSilent(let member, let duration):
            return "sends nothing to \(words(member)) any more: no authentic packet has come from it for "
                + "\(NumberText.fixed(duration.seconds, 0)) s"
        case .deviceFailed(let member, let reason):
            return "software decodes \(words(member)), from now on: \(reason)"
        case .compositionDeviceFailed(let room, let reason):
            return "software composes a picture of room \(quoted(room)): \(reason)"
        case .authenticationFailed(let count, let last):
            return "\(count) \(count == 1 ? "packet" : "packets") failed authentication, the last from \(last): "
                + "the sender uses other keys than its session or forges packets, or its network repeats them"
        }
    }

    private static func words(_ member: RelayNotice.Member) -> String {
        "room \(quoted(member.room)), participant \(member.id), name \(quoted(member.name))"
    }

    private static func words(_ role: ParticipantRole) -> String {
        switch role {
        case .sendAndReceive: "sends and receives"
        case .publish: "sends only"
        case .watch: "receives only"
        }
    }

    static func words(_ reason: LeaveReason) -> String {
        switch reason {
        case .left: "its client left"
        case .idle: "no authentic packet came for the idle timeout"
        case .failed: "ICE or DTLS failed, or the consent to send expired"
        case .neverConnected:
            "it never connected; check that UDP to the media port is not blocked, and that the client uses the keys of "
                + "its offer"
        case .noSeat: "the last seat was taken before it connected"
        case .replaced: "the same client joined again"
        case .removed: "a moderator removed it"
        case .ended: "a moderator ended the room"
        case .closing: "the relay shuts down"
        }
    }

    /// Text from a client in quotation marks, on one line and of bounded length. Characters that end lines, that cannot
    /// be seen, or that change the direction of the text around them are written as their numbers.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars.prefix(longest) {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            default:
                if isPlain(scalar) {
                    result.unicodeScalars.append(scalar)
                } else {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                }
            }
        }
        return result + (text.unicodeScalars.count > longest ? "…\"" : "\"")
    }

    /// Names have up to 64 characters.
    private static let longest = 96

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
