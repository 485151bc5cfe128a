import Foundation
import RelayServer
import RoomAPI

/// Every option with the value that holds, as `confrelay config print` tells it.
struct OptionListing {
    let arguments: RelayArguments

    /// A file for `--config`: what is set, and the rest as comments.
    var yaml: String {
        var lines = [
            "# The options of confrelay \(RelayVersion.current): each key is one of confrelay --help, without dashes.",
            "# Lines that begin with # set nothing. The command line wins over this file.",
        ]
        var section: String?
        for option in DeclaredOption.all {
            if option.section != section {
                section = option.section
                lines += ["", "## \(option.section)"]
            }
            lines.append("")
            lines += Self.wrapped(option.help)
            lines += Self.lines(option, arguments.values(of: option))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(
        _ option: DeclaredOption, _ held: (values: [String], source: RelayArguments.Source)
    ) -> [String] {
        guard held.source != .default else {
            let example = option.isFlag ? "false" : held.values.first.map(scalar) ?? "<\(option.valueName)>"
            return ["# \(option.name): \(example)"]
        }
        if option.isFlag { return ["\(option.name): \(!held.values.isEmpty)"] }
        guard option.isRepeating else { return ["\(option.name): \(scalar(held.values.first ?? ""))"] }
        return held.values.isEmpty
            ? ["\(option.name): []"] : ["\(option.name):"] + held.values.map { "  - \(scalar($0))" }
    }

    /// The same for programs.
    func json() throws -> String {
        struct Item: Encodable {
            var name: String
            var source: RelayArguments.Source
            var values: [String]
        }
        let items = DeclaredOption.all.map { option in
            let held = arguments.values(of: option)
            return Item(name: option.name, source: held.source, values: held.values)
        }
        return String(decoding: try JSONEncoder.readable.encode(["options": items]), as: UTF8.self) + "\n"
    }

    /// A YAML scalar that stands for this very text.
    private static func scalar(_ text: String) -> String {
        if text.wholeMatch(of: #/[A-Za-z0-9\/][A-Za-z0-9._\/\-]*/#) != nil { return text }
        return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
    }

    private static let width = 100

    private static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "#"
        for word in text.split(whereSeparator: \.isWhitespace) {
            if line.count + 1 + word.count > width {
                lines.append(line)
                line = "#"
            }
            line += " \(word)"
        }
        return lines + [line]
    }
}
