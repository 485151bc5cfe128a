import MediaCore

extension LayoutTemplate.Rule {
    /// The rules without a name, with their texts in JSON.
    static let plain: [(text: String, rule: LayoutTemplate.Rule)] = [
        ("screen", .screen), ("speaker", .speaker), ("previous-speaker", .previousSpeaker), ("recent", .recent),
        ("next", .next),
    ]
    static let allowed = "\(plain.map(\.text).joined(separator: ", ")), participant:NAME or screen:NAME"

    init?(_ text: String) {
        if let rule = Self.plain.first(where: { $0.text == text })?.rule {
            self = rule
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = String(text[text.index(after: colon)...])
        guard !DisplayText(name).isEmpty, name.unicodeScalars.count <= LayoutTemplate.maximumNameLength else {
            return nil
        }
        switch text[..<colon] {
        case "participant": self = .participant(named: name)
        case "screen": self = .screenOf(named: name)
        default: return nil
        }
    }

    /// The value's text in JSON.
    public var text: String {
        switch self {
        case .participant(let name): "participant:\(name)"
        case .screenOf(let name): "screen:\(name)"
        case .screen, .speaker, .previousSpeaker, .recent, .next: Self.plain.first { $0.rule == self }?.text ?? ""
        }
    }
}

extension LayoutTemplate {
    /// The most code points of a name.
    static let maximumNameLength = 128
    /// The most code points of an overlay's text.
    static let maximumTextLength = 512
}

extension LayoutTemplate.RGBColour {
    /// Reads `#rrggbb`.
    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "#"), text.utf8.count == 7,
            let bytes = [UInt8](hexadecimal: text.utf8.dropFirst())
        else { return nil }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2])
    }

    /// The value's text in JSON.
    var text: String { "#" + [red, green, blue].hexadecimal }
}

extension LayoutTemplate.CountRange {
    static let allowed = "a number such as \"3\", a range such as \"1-2\" or an open one such as \"5+\", 0 to 1000"

    init?(_ text: String) {
        func number(_ digits: Substring) -> Int? {
            guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return Int(digits).flatMap { $0 <= 1000 ? $0 : nil }
        }
        if text.hasSuffix("+") {
            guard let least = number(text.dropLast()) else { return nil }
            self.init(least: least, most: nil)
            return
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first.flatMap(number), let last = parts.last.flatMap(number),
            first <= last
        else { return nil }
        self.init(least: first, most: last)
    }

    /// The value's text in JSON.
    var text: String {
        guard let most else { return "\(least)+" }
        return most == least ? "\(least)" : "\(least)-\(most)"
    }
}

extension LayoutTemplate.Overlay {
    static let clockFormat = "\"UTC\", or hours and minutes from it such as \"+01:00\" or \"-03:30\""

    /// Reads a clock's distance from UTC, in minutes.
    static func utcOffset(_ text: String) -> Int? {
        if text == "UTC" { return 0 }
        let bytes = Array(text.utf8)
        guard bytes.count == 6, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
            bytes[3] == UInt8(ascii: ":")
        else { return nil }
        let digits = [1, 2, 4, 5].map { Int(bytes[$0]) - 0x30 }
        guard digits.allSatisfy((0...9).contains) else { return nil }
        let (hours, minutes) = (10 * digits[0] + digits[1], 10 * digits[2] + digits[3])
        guard hours <= 14, minutes < 60 else { return nil }
        return (bytes[0] == UInt8(ascii: "-") ? -1 : 1) * (60 * hours + minutes)
    }

    static func text(utcOffset: Int) -> String {
        guard utcOffset != 0 else { return "UTC" }
        func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let minutes = utcOffset.magnitude % (24 * 60)
        return (utcOffset < 0 ? "-" : "+") + twoDigits(Int(minutes / 60)) + ":" + twoDigits(Int(minutes % 60))
    }
}
