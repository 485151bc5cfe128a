/// Any received JSON value.
enum TemplateValue {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([TemplateValue])
    case object([String: TemplateValue])
    /// A value that cannot be taken, and why.
    case unreadable(String)

    /// The largest depth of nested values, with that of the surrounding document: a template has five levels.
    private static let maximumDepth = 16
    /// The most elements of a list, and the most keys of an object.
    private static let maximumCount = 1024

    /// Its description.
    var kind: String {
        switch self {
        case .null: "null"
        case .flag: "true or false"
        case .number: "a number"
        case .text: "a string"
        case .list: "a list"
        case .object: "an object"
        case .unreadable(let reason): reason
        }
    }
}

extension TemplateValue: Decodable {
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            self = .unreadable("nested too deep")
            return
        }
        if let container = try? decoder.container(keyedBy: AnyCodingKey.self) {
            self = try Self.object(container)
        } else if var container = try? decoder.unkeyedContainer() {
            self = try Self.list(&container)
        } else {
            self = Self.single(try decoder.singleValueContainer())
        }
    }

    private static func object(_ container: KeyedDecodingContainer<AnyCodingKey>) throws -> TemplateValue {
        let keys = container.allKeys
        guard keys.count <= maximumCount else { return .unreadable("an object of more than \(maximumCount) keys") }
        var values: [String: TemplateValue] = [:]
        for key in keys { values[key.stringValue] = try container.decode(TemplateValue.self, forKey: key) }
        return .object(values)
    }

    private static func list(_ container: inout any UnkeyedDecodingContainer) throws -> TemplateValue {
        var values: [TemplateValue] = []
        while !container.isAtEnd {
            guard values.count < maximumCount else { return .unreadable("a list of more than \(maximumCount) values") }
            values.append(try container.decode(TemplateValue.self))
        }
        return .list(values)
    }

    private static func single(_ container: any SingleValueDecodingContainer) -> TemplateValue {
        if container.decodeNil() { return .null }
        if let text = try? container.decode(String.self) { return .text(text) }
        if let flag = try? container.decode(Bool.self) { return .flag(flag) }
        do {
            let number = try container.decode(Double.self)
            if number.isFinite { return .number(number) }
        } catch DecodingError.typeMismatch {
            return .unreadable("text that is not in UTF-8")
        } catch {}
        return .unreadable("a number that is too large")
    }
}

/// Any key of a JSON object.
struct AnyCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init?(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
