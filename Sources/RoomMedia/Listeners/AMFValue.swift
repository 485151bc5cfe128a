import NIOCore

/// A value in AMF0, the form of RTMP's commands (Action Message Format, version 0).
enum AMFValue: Hashable, Sendable {
    case number(Double)
    case boolean(Bool)
    case string(String)
    case object([String: AMFValue])
    case array([AMFValue])
    /// Null, undefined, and what commands have no use for.
    case null

    struct ParseError: Error {}

    /// The depth of objects in objects that is read.
    private static let deepest = 8
    /// The values of one message that are read.
    private static let mostValues = 512

    /// Reads all values of a message.
    static func values(in bytes: ByteBuffer) throws(ParseError) -> [AMFValue] {
        var bytes = bytes
        var values: [AMFValue] = []
        var budget = mostValues
        while bytes.readableBytes > 0 {
            values.append(try read(&bytes, depth: 0, budget: &budget))
        }
        return values
    }

    private static func read(
        _ bytes: inout ByteBuffer, depth: Int, budget: inout Int
    ) throws(ParseError) -> AMFValue {
        budget -= 1
        guard depth < deepest, budget >= 0, let marker = bytes.readInteger(as: UInt8.self) else { throw ParseError() }
        switch marker {
        case 0x00:
            guard let bits = bytes.readInteger(as: UInt64.self) else { throw ParseError() }
            return .number(Double(bitPattern: bits))
        case 0x01:
            guard let byte = bytes.readInteger(as: UInt8.self) else { throw ParseError() }
            return .boolean(byte != 0)
        case 0x02: return .string(try text(&bytes))
        case 0x03: return .object(try properties(&bytes, depth: depth, budget: &budget))
        case 0x05, 0x06: return .null
        case 0x08:
            // The count is a hint.
            guard bytes.readInteger(as: UInt32.self) != nil else { throw ParseError() }
            return .object(try properties(&bytes, depth: depth, budget: &budget))
        case 0x0A:
            guard let count = bytes.readInteger(as: UInt32.self), count <= UInt32(mostValues) else {
                throw ParseError()
            }
            var values: [AMFValue] = []
            for _ in 0..<count { values.append(try read(&bytes, depth: depth + 1, budget: &budget)) }
            return .array(values)
        case 0x0B:
            // A date: milliseconds, and a time zone that nobody sets.
            guard bytes.readBytes(length: 10) != nil else { throw ParseError() }
            return .null
        case 0x0C:
            guard let length = bytes.readInteger(as: UInt32.self), let text = bytes.readString(length: Int(length))
            else { throw ParseError() }
            return .string(text)
        default: throw ParseError()
        }
    }

    private static func text(_ bytes: inout ByteBuffer) throws(ParseError) -> String {
        guard let length = bytes.readInteger(as: UInt16.self), let text = bytes.readString(length: Int(length)) else {
            throw ParseError()
        }
        return text
    }

    private static func properties(
        _ bytes: inout ByteBuffer, depth: Int, budget: inout Int
    ) throws(ParseError) -> [String: AMFValue] {
        var properties: [String: AMFValue] = [:]
        while true {
            let name = try text(&bytes)
            if name.isEmpty {
                guard bytes.readInteger(as: UInt8.self) == 0x09 else { throw ParseError() }
                return properties
            }
            properties[name] = try read(&bytes, depth: depth + 1, budget: &budget)
        }
    }

    func write(to bytes: inout ByteBuffer) {
        switch self {
        case .number(let value):
            bytes.writeInteger(0x00, as: UInt8.self)
            bytes.writeInteger(value.bitPattern)
        case .boolean(let value):
            bytes.writeInteger(0x01, as: UInt8.self)
            bytes.writeInteger(value ? 1 : 0, as: UInt8.self)
        case .string(let text):
            bytes.writeInteger(0x02, as: UInt8.self)
            Self.write(text, to: &bytes)
        case .object(let properties):
            bytes.writeInteger(0x03, as: UInt8.self)
            for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
                Self.write(name, to: &bytes)
                value.write(to: &bytes)
            }
            bytes.writeBytes([0x00, 0x00, 0x09])
        case .array(let values):
            bytes.writeInteger(0x0A, as: UInt8.self)
            bytes.writeInteger(UInt32(clamping: values.count))
            for value in values { value.write(to: &bytes) }
        case .null: bytes.writeInteger(0x05, as: UInt8.self)
        }
    }

    private static func write(_ text: String, to bytes: inout ByteBuffer) {
        let utf8 = text.utf8.prefix(Int(UInt16.max))
        bytes.writeInteger(UInt16(utf8.count))
        bytes.writeBytes(utf8)
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }
}
