import NIOCore

/// One block of a `text/event-stream` (HTML Living Standard, section 9.2, server-sent events).
struct ServerSentEvent: Equatable {
    /// The value of `Last-Event-ID` after it; nil leaves it unchanged.
    var id: UInt64?
    /// The name of the event; nil for `message`.
    var name: String?
    /// Milliseconds after which a browser connects again; nil leaves it as it was.
    var retry: Int?
    /// The block's text. Without one the block sets id and retry, and no event is sent.
    var data: String?

    static let mediaType = "text/event-stream"

    /// A comment, which keeps proxies from taking the connection for dead.
    static let keepAlive = ByteBuffer(string: ":\n\n")

    private static let lineEnds: [Character] = ["\r\n", "\n", "\r"]

    /// The block's bytes.
    func encode() -> ByteBuffer {
        var text = ""
        if let retry { text += "retry: \(retry)\n" }
        if let id { text += "id: \(id)\n" }
        if let name { text += "event: \(name)\n" }
        if let data {
            // Each of the three ways to end a line would end the field. To receivers others, such as U+2028, are text.
            for line in data.split(omittingEmptySubsequences: false, whereSeparator: { Self.lineEnds.contains($0) }) {
                text += "data: \(line)\n"
            }
        }
        return ByteBuffer(string: text + "\n")
    }
}
