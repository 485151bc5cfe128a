/// A value of a message between relays that a later version may extend by words of its own; nil where this version
/// cannot read it.
///
/// Relays of two versions have one room while a cluster is upgraded. A word that the earlier version does not know must
/// not keep all the rest of the message from it.
@propertyWrapper
public struct IfReadable<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var wrappedValue: Value?

    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) { wrappedValue = try? Value(from: decoder) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// Items of a message between relays, without those that this version cannot read.
@propertyWrapper
public struct EachReadable<Item: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var wrappedValue: [Item]

    public init(wrappedValue: [Item]) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try [IfReadable<Item>](from: decoder).compactMap(\.wrappedValue)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

// The compiler makes a message's decoder and encoder with these functions: a version may also leave such a field out.

extension KeyedDecodingContainer {
    func decode<Value>(_ type: IfReadable<Value>.Type, forKey key: Key) throws -> IfReadable<Value> {
        try decodeIfPresent(type, forKey: key) ?? IfReadable(wrappedValue: nil)
    }

    func decode<Item>(_ type: EachReadable<Item>.Type, forKey key: Key) throws -> EachReadable<Item> {
        try decodeIfPresent(type, forKey: key) ?? EachReadable(wrappedValue: [])
    }
}

extension KeyedEncodingContainer {
    mutating func encode<Value>(_ value: IfReadable<Value>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue, forKey: key)
    }
}
