import MediaCore

/// Text that players show or list beside a film (WebVTT, a W3C recommendation).
public struct WebVTTCue: Hashable, Sendable {
    /// Seconds since the film's beginning.
    public var start: Double
    public var end: Double
    /// The person whom the cue is about; players may show the name.
    public var voice: String?
    public var text: String

    public init(start: Double, end: Double, voice: String? = nil, text: String) {
        self.start = start
        self.end = end
        self.voice = voice
        self.text = text
    }
}

/// Writes WebVTT files.
public enum WebVTT {
    /// The media type of its files, by their ending.
    public static let fileExtension = "vtt"

    /// The file of cues, which it puts into the order of their beginnings.
    public static func file(_ cues: [WebVTTCue]) -> String {
        let sorted = cues.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
        return sorted.reduce("WEBVTT\n") { file, cue in file + "\n" + text(of: cue.element) }
    }

    private static func text(of cue: WebVTTCue) -> String {
        // Names and text come from people: they must end neither their line nor the cue.
        let voice = cue.voice.map { "<v \(escaped($0))>" } ?? ""
        return "\(time(cue.start)) --> \(time(cue.end))\n\(voice)\(escaped(cue.text))\n"
    }

    private static func escaped(_ text: String) -> String {
        // By code points, as players read it: a mark behind a bracket would make both one character.
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case _ where Character(scalar).isNewline: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func time(_ seconds: Double) -> String {
        let milliseconds = Int(clamping: (max(0, seconds) * 1000).rounded())
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let (hours, minutes) = (milliseconds / 3_600_000, milliseconds / 60_000 % 60)
        return "\(digits(hours, 2)):\(digits(minutes, 2)):\(digits(milliseconds / 1000 % 60, 2))."
            + digits(milliseconds % 1000, 3)
    }
}
