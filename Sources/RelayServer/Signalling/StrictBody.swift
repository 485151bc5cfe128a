import RoomAPI

/// The value of a JSON document in which each key is one that the value's type takes.
///
/// A key with a mistake in it would otherwise leave a setting as it was, and nobody would be told.
struct StrictBody<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let keys = TakenKeys()
        value = try Value(from: StrictDecoder(base: decoder, keys: keys))
        guard let object = try? decoder.container(keyedBy: TextKey.self),
            let unknown = object.allKeys.map(\.stringValue).filter({ !keys.isTaken($0) }).min()
        else { return }
        let shown = ShownName.made(of: unknown)
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: [TextKey(stringValue: shown)],
                debugDescription:
                    "there is no key \"\(shown)\"; use \(keys.asked.sorted().joined(separator: ", "))"))
    }
}

/// The keys of a document's outermost object: several types may each read their part of it.
private final class TakenKeys {
    /// The keys that were read, for people: those of a choice that the document does not make are not among them.
    var asked: Set<String> = []
    private var types: [any CodingKey.Type] = []

    func add(_ type: any CodingKey.Type) { types.append(type) }

    func isTaken(_ key: String) -> Bool { types.contains { $0.init(stringValue: key) != nil } }
}

private struct TextKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

/// A decoder that notes the keys of the outermost object. Objects in it see to their own.
private struct StrictDecoder: Decoder {
    let base: any Decoder
    let keys: TakenKeys

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        keys.add(type)
        return KeyedDecodingContainer(StrictContainer(base: try base.container(keyedBy: type), keys: keys))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try base.unkeyedContainer() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { try base.singleValueContainer() }
}

private struct StrictContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    let keys: TakenKeys

    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    private func noting(_ key: Key) -> KeyedDecodingContainer<Key> {
        keys.asked.insert(key.stringValue)
        return base
    }

    func contains(_ key: Key) -> Bool { noting(key).contains(key) }

    func decodeNil(forKey key: Key) throws -> Bool { try noting(key).decodeNil(forKey: key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try noting(key).decode(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try noting(key).nestedContainer(keyedBy: type, forKey: key)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try noting(key).nestedUnkeyedContainer(forKey: key)
    }

    func superDecoder() throws -> any Decoder { try base.superDecoder() }

    func superDecoder(forKey key: Key) throws -> any Decoder { try noting(key).superDecoder(forKey: key) }
}
