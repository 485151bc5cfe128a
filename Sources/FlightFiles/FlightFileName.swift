public import FlightRecording
import Glibc

/// The name of a recording's file: room, participant, start (UTC) and the participant's identifier.
///
/// Rooms and names come from the network. Every character that is not an ASCII letter or a digit becomes a hyphen, and
/// long names are cut, so that no part of the name is special to a file system or a shell. The identifier comes from
/// the relay and distinguishes two participants of the same name.
public enum FlightFileName {
    /// Returns a name such as `demo_Ada_20261121T065600Z_k3j4h5mnpqrs.flight`.
    public static func make(for header: FlightHeader) -> String {
        let parts = [
            cleaned(header.room, otherwise: "room"), cleaned(header.participant, otherwise: "guest"),
            timestamp(header.wallClockMilliseconds), cleaned(header.participantID, otherwise: "0"),
        ]
        return parts.joined(separator: "_") + ".flight"
    }

    private static let maximumLength = 40

    private static func cleaned(_ text: String, otherwise fallback: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(maximumLength) {
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            result.unicodeScalars.append(isPlain ? scalar : "-")
        }
        return result.contains { $0 != "-" } ? result : fallback
    }

    /// Returns a time in ISO 8601, without separators.
    private static func timestamp(_ milliseconds: Int64) -> String {
        // The limit keeps years to four digits.
        var seconds = time_t(min(max(milliseconds / 1000, 0), 253_402_300_799))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ value: CInt, _ count: Int) -> String {
            let text = "\(value)"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        return date + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
    }
}
