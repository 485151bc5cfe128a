package import SecureTransport

/// Decides whether a stream that is pushed to the relay becomes a member of a room.
package protocol StreamAdmitting: Sendable {
    /// Makes the stream a member of its room.
    ///
    /// - Parameters:
    ///   - room: The room as the publisher names it.
    ///   - key: What the publisher proves itself by.
    ///   - address: Where the stream comes from; nil if it is not known.
    /// - Throws: Why the room does not take the stream.
    func admit(
        _ stream: PushedStream, room: String, key: String, from address: TransportAddress?
    ) async throws(StreamRefusal)
}

/// The reason for which a pushed stream does not become a member of a room, in words for its publisher.
package struct StreamRefusal: Error, Hashable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}
