/// Takes server-sent events out of a `text/event-stream` (HTML Living Standard, section 9.2.6), however it was cut.
struct EventStreamParser {
    struct Event: Equatable {
        /// The event's name; `message` by default.
        var name = "message"
        var data = ""
    }

    /// The largest event in bytes, more than any event of a room. Larger ones are left out.
    static let maximumSize = 1 << 20

    private var line: [UInt8] = []
    private var event = Event()
    private var hasData = false
    private var size = 0
    private var isAfterReturn = false

    /// Takes the next bytes; the events that they complete.
    mutating func append(_ bytes: [UInt8]) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            // A line ends with CR, LF or both.
            let isSecondHalf = isAfterReturn && byte == 0x0A
            isAfterReturn = byte == 0x0D
            if isSecondHalf { continue }
            guard byte == 0x0A || byte == 0x0D else {
                size += 1
                if size <= Self.maximumSize { line.append(byte) }
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer {
                event = Event()
                hasData = false
                size = 0
            }
            return hasData && size <= Self.maximumSize ? event : nil
        }
        let text = String(decoding: line, as: UTF8.self)
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        var value = text[colon...].dropFirst()
        if value.first == " " { value = value.dropFirst() }
        switch text[..<colon] {
        case "event": event.name = String(value)
        case "data":
            event.data += hasData ? "\n\(value)" : String(value)
            hasData = true
        default: break
        }
        return nil
    }
}
