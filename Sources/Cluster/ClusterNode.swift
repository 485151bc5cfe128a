import Foundation

/// The name of a relay in its cluster.
public struct NodeID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    static let maximumLength = 64

    /// Checks a name: 1 to 64 letters, digits, `-`, `_` and `.`; nil for any other.
    public init?(rawValue: String) {
        let isAllowed = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isAllowed, (1...Self.maximumLength).contains(rawValue.utf8.count), rawValue != ".",
            rawValue != ".."
        else { return nil }
        self.rawValue = rawValue
    }

    public static func < (left: NodeID, right: NodeID) -> Bool { left.rawValue < right.rawValue }

    public var description: String { rawValue }
}

/// A relay as its cluster knows it: the value of `nodes/{id}`.
public struct NodeRecord: Hashable, Codable, Sendable {
    /// A state that a later version has added is read as `draining`: relays of this version open no rooms there, and
    /// send joins of its rooms to it.
    public enum State: String, Codable, Sendable {
        /// Takes new rooms.
        case serving
        /// Takes no new rooms; its calls go on.
        case draining

        public init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .draining
        }
    }

    /// Where clients and other relays reach it, without a slash at the end.
    public var url: String
    public var region: String
    public var version: String
    /// Further participants that fit; nil where the relay does not count seats.
    public var seatsLeft: Int?
    public var participants: Int
    public var rooms: Int
    public var state: State
    /// Tells this process from an earlier one of the same name.
    public var instance: String
    /// True if it signs the heads of its requests to other relays; nil, from earlier versions: it does not.
    public var signsHeads: Bool?

    public init(
        url: String, region: String, version: String, seatsLeft: Int? = nil, participants: Int = 0, rooms: Int = 0,
        state: State = .serving, instance: String, signsHeads: Bool? = nil
    ) {
        self.url = url
        self.region = region
        self.version = version
        self.seatsLeft = seatsLeft
        self.participants = participants
        self.rooms = rooms
        self.state = state
        self.instance = instance
        self.signsHeads = signsHeads
    }

    /// The seats of a relay that does not count them (`--overload-control off`).
    static let assumedSeats = 100

    /// Seats for new participants, before promised ones are subtracted.
    public var freeSeats: Int { max(0, seatsLeft ?? Self.assumedSeats - min(max(participants, 0), Self.assumedSeats)) }
}

/// The relay that leads a room: the value of `rooms/{room}/owner`.
public struct RoomOwner: Hashable, Codable, Sendable {
    public var node: NodeID
    /// The process of that name.
    public var instance: String
    /// The lease that the key ends with.
    public var lease: Int64
}

/// Values of the directory are JSON with sorted keys: equal values are equal bytes.
enum DirectoryValue {
    /// The longest value that is read or written.
    static let maximumSize = 128 * 1024

    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and enumerations always encode.
        return (try? encoder.encode(value)).map(Array.init) ?? []
    }

    /// The value in bytes that anybody may have written; nil for any other.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        guard bytes.count <= maximumSize else { return nil }
        return try? JSONDecoder().decode(type, from: Data(bytes))
    }
}
