/// Writes an SVG drawing (SVG 1.1) as text, element by element.
///
/// Names of elements and attributes come from the program; all other text is escaped.
public struct SVGBuilder: Sendable {
    public enum Value: Sendable, ExpressibleByStringInterpolation, ExpressibleByFloatLiteral,
        ExpressibleByIntegerLiteral
    {
        case text(String)
        /// A length or a position, written with at most one decimal: enough for the eye, and short.
        case number(Double)

        public init(stringLiteral value: String) { self = .text(value) }
        public init(floatLiteral value: Double) { self = .number(value) }
        public init(integerLiteral value: Int) { self = .number(Double(value)) }
    }

    public typealias Attributes = KeyValuePairs<StaticString, Value>

    /// The text written so far.
    public private(set) var text = ""

    public init() {}

    /// Writes an element without content except a title, which viewers show as a tooltip.
    public mutating func element(_ name: StaticString, _ attributes: Attributes, title: String? = nil) {
        open(name, attributes, isEmpty: title == nil)
        guard let title else { return }
        text += "<title>\(XMLText.escaped(title))</title></\(name)>\n"
    }

    /// Writes an element with others inside.
    public mutating func element(_ name: StaticString, _ attributes: Attributes, content: (inout SVGBuilder) -> Void) {
        open(name, attributes, isEmpty: false)
        text += "\n"
        content(&self)
        text += "</\(name)>\n"
    }

    /// Writes an element with text inside.
    public mutating func text(_ content: String, _ attributes: Attributes, in name: StaticString = "text") {
        open(name, attributes, isEmpty: false)
        text += "\(XMLText.escaped(content))</\(name)>\n"
    }

    /// Appends the text of another builder.
    public mutating func append(_ other: SVGBuilder) { text += other.text }

    private mutating func open(_ name: StaticString, _ attributes: Attributes, isEmpty: Bool) {
        text += "<\(name)"
        for (key, value) in attributes {
            switch value {
            case .text(let value): text += " \(key)=\"\(XMLText.escaped(value))\""
            case .number(let value): text += " \(key)=\"\(Self.number(value))\""
            }
        }
        text += isEmpty ? "/>\n" : ">"
    }

    /// Formats a position or a length; a value that is not finite becomes 0.
    static func number(_ value: Double) -> String { value.isFinite ? NumberText.short(value, 1) : "0" }
}

/// The data of a `path` element: lines and areas.
public struct SVGPath: Sendable {
    /// The value of the attribute `d`.
    public private(set) var data = ""

    public init() {}

    public var isEmpty: Bool { data.isEmpty }

    public mutating func move(_ x: Double, _ y: Double) { data += "M\(SVGBuilder.number(x)) \(SVGBuilder.number(y))" }
    public mutating func line(_ x: Double, _ y: Double) { data += "L\(SVGBuilder.number(x)) \(SVGBuilder.number(y))" }
    public mutating func horizontal(to x: Double) { data += "H\(SVGBuilder.number(x))" }
    public mutating func vertical(to y: Double) { data += "V\(SVGBuilder.number(y))" }
    public mutating func close() { data += "Z" }

    public mutating func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
        move(x, y)
        horizontal(to: x + width)
        vertical(to: y + height)
        horizontal(to: x)
        close()
    }
}
