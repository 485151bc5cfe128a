public import FlightRecording
import Glibc

/// The name of a recording's file: room, participant, start (UTC) and the participant's identifier.
///
/// Rooms and names come from the network. Whatever is neither an ASCII letter nor a digit becomes a hyphen, and long
/// ones are cut, so that nothing in them means anything to a file system or a shell. The identifier, which the relay
/// makes, keeps two of the same name apart.
public enum FlightFileName {
    /// `demo_Ada_20261121T065600Z_k3j4h5mnpqrs.flight`
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

    /// A time as ISO 8601 has it, without separators.
    private static func timestamp(_ milliseconds: Int64) -> String {
        // Years of four digits.
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
