/// Reads a template's values and collects their mistakes and places.
///
/// A wrong value is replaced by a possible one, so that reading continues and finds the other mistakes.
struct TemplateReader {
    private(set) var issues: [LayoutTemplateError.Issue] = []

    /// An object's values and its place.
    struct Fields {
        var values: [String: TemplateValue]
        var path: String

        func path(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
    }

    /// - Parameter reason: Not made if nobody reads it: wrong templates may have thousands of mistakes.
    mutating func record(_ path: String, _ reason: @autoclosure () -> String) {
        guard issues.count < LayoutTemplateError.maximumIssueCount else { return }
        issues.append(LayoutTemplateError.Issue(path: path, reason: reason()))
    }

    /// An object that has none but these keys.
    mutating func object(_ value: TemplateValue, at path: String, keys: [String]) -> Fields? {
        guard case .object(let values) = value else {
            record(path, "this is \(value.kind); give an object")
            return nil
        }
        for key in values.keys.sorted() where !keys.contains(key) {
            record(
                Fields(values: [:], path: path).path(Self.shown(key)),
                "there is no such key; use \(keys.joined(separator: ", "))")
        }
        return Fields(values: values, path: path)
    }

    mutating func list(_ fields: Fields, _ key: String, most: Int) -> [TemplateValue]? {
        fields.values[key].flatMap { list($0, at: fields.path(key), most: most) }
    }

    mutating func list(_ value: TemplateValue, at path: String, most: Int) -> [TemplateValue]? {
        guard case .list(let values) = value else {
            record(path, "this is \(value.kind); give a list")
            return nil
        }
        guard values.count <= most else {
            record(path, "these are \(values.count); give at most \(most)")
            return Array(values.prefix(most))
        }
        return values
    }

    mutating func number(
        _ fields: Fields, _ key: String, in range: ClosedRange<Double>, default standard: Double
    ) -> Double {
        guard let value = fields.values[key] else { return standard }
        func allowed() -> String {
            "give a number from \(Self.shown(range.lowerBound)) to \(Self.shown(range.upperBound))"
        }
        guard case .number(let number) = value else {
            record(fields.path(key), "this is \(value.kind); \(allowed())")
            return standard
        }
        guard range.contains(number) else {
            record(fields.path(key), "\(Self.shown(number)) is not possible; \(allowed())")
            return standard
        }
        return number
    }

    mutating func integer(_ fields: Fields, _ key: String, in range: ClosedRange<Int>, default standard: Int) -> Int {
        guard let value = fields.values[key] else { return standard }
        guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer) else {
            func found() -> String {
                if case .number(let number) = value { Self.shown(number) } else { value.kind }
            }
            record(
                fields.path(key),
                "\(found()) is not possible; give a whole number from \(range.lowerBound) to \(range.upperBound)")
            return standard
        }
        return integer
    }

    mutating func flag(_ fields: Fields, _ key: String) -> Bool? {
        guard let value = fields.values[key] else { return nil }
        guard case .flag(let flag) = value else {
            record(fields.path(key), "this is \(value.kind); give true or false")
            return nil
        }
        return flag
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ fields: Fields, _ key: String, _: Choice.Type = Choice.self
    ) -> Choice? {
        text(fields, key, allowed: Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")) {
            Choice(rawValue: $0)
        }
    }

    /// The value that `read` returns for a string.
    mutating func text<Value>(
        _ fields: Fields, _ key: String, allowed: @autoclosure () -> String, _ read: (String) -> Value?
    ) -> Value? {
        fields.values[key].flatMap { text($0, at: fields.path(key), allowed: allowed(), read) }
    }

    mutating func text<Value>(
        _ value: TemplateValue, at path: String, allowed: @autoclosure () -> String, _ read: (String) -> Value?
    ) -> Value? {
        guard case .text(let text) = value else {
            record(path, "this is \(value.kind); give \(allowed())")
            return nil
        }
        guard let result = read(text) else {
            record(path, "\"\(Self.shown(text))\" is not possible; give \(allowed())")
            return nil
        }
        return result
    }

    /// The text made fit for messages to terminals and logs.
    private static func shown(_ text: String) -> String {
        let cleaned = DisplayText(text).string
        return cleaned.count > 40 ? "\(cleaned.prefix(40))…" : cleaned
    }

    private static func shown(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }
}
