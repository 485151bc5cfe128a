import Foundation
import MediaCore
public import RoomAPI
import SecureTransport

/// A URL that events are posted to, and those that it wants.
public struct WebhookEndpoint: Hashable, Sendable {
    /// The reason for which a text names no endpoint.
    public struct ParseError: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    /// Without the filter.
    public let url: String
    /// The kinds of events wanted; nil for all.
    public let kinds: Set<RelayEvent.Kind>?
    /// The rooms whose events are wanted, by names of which the last character may be `*`; empty for all.
    public let rooms: [String]

    /// Reads a URL, whose fragment, which no server gets to see, is the filter:
    /// `https://example.org/hook#events=participantJoined,participantLeft&rooms=demo,sales-*`.
    public init(parsing text: String) throws(ParseError) {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        url = String(parts[0])
        guard let components = URLComponents(string: url, encodingInvalidCharacters: false),
            ["http", "https"].contains(components.scheme), components.host?.isEmpty == false
        else { throw ParseError(description: "give a URL that begins with http:// or https://") }
        guard components.user == nil, components.password == nil else {
            throw ParseError(description: "a password in the URL is not supported; requests are signed instead")
        }
        var kinds: Set<RelayEvent.Kind>?
        var rooms: [String] = []
        for field in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let values = (pair.count > 1 ? pair[1] : "").split(separator: ",").map(String.init)
            guard !values.isEmpty else {
                throw ParseError(description: "the filter '\(pair[0])' has no value, such as events=roomStarted")
            }
            switch pair[0] {
            case "events": kinds = try Set(values.map(Self.kind))
            case "rooms": rooms = values
            default:
                throw ParseError(description: "there is no filter '\(pair[0].prefix(32))'; use events= and rooms=")
            }
        }
        self.kinds = kinds
        self.rooms = rooms
    }

    private static func kind(_ name: String) throws(ParseError) -> RelayEvent.Kind {
        guard let kind = RelayEvent.Kind(rawValue: name) else {
            let names = RelayEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ParseError(description: "there is no event '\(name.prefix(32))'; there are \(names)")
        }
        return kind
    }

    /// True if an event is to be posted.
    func wants(_ event: RelayEvent) -> Bool {
        guard kinds?.contains(event.type) ?? true else { return false }
        guard !rooms.isEmpty else { return true }
        guard let room = event.room else { return false }
        return rooms.contains { $0.hasSuffix("*") ? room.hasPrefix($0.dropLast()) : room == $0 }
    }

    static let folderPrefix = "webhook-"

    /// The name of its queue's folder, which depends on the URL alone.
    var folderName: String {
        let code = KeyedHash(key: Array("folder".utf8)).code(of: url) ?? []
        return Self.folderPrefix + code.prefix(8).hexadecimal
    }

    /// The URL as the log may tell it: a query may have a secret in it.
    var shownURL: String { String(url.prefix { $0 != "?" }) }
}
