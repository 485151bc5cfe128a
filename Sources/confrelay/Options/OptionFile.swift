import Foundation
import RelayServer
import Yams

/// The file of `--config`: a YAML mapping whose keys are options without their dashes.
struct OptionFile {
    /// One option of it.
    struct Entry: Hashable {
        var option: DeclaredOption
        /// As they would stand on a command line; empty for a flag that is off.
        var values: [String]
        /// Where it stands; nil: not known.
        var line: Int?

        /// It on a command line.
        var arguments: [String] { values.map { option.isFlag ? "--\(option.name)" : "--\(option.name)=\($0)" } }
    }

    let path: String
    let entries: [Entry]

    /// Reads a file.
    init(path: String) throws(CommandFailure) {
        let text: String
        do {
            text = try TextFile.text(of: path)
        } catch {
            guard !error.isNoText else { throw CommandFailure(.configuration, "\(path): \(error.reason)") }
            throw CommandFailure(
                .noInput, "the file \(path) cannot be read: \(error.reason); give --config a file of options")
        }
        try self.init(text: text, path: path)
    }

    /// Reads a file's text.
    init(text: String, path: String) throws(CommandFailure) {
        self.path = path
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw CommandFailure(.configuration, "\(path): \(Self.reason(error))")
        }
        // A file of comments alone sets nothing.
        guard let root, root.tag != Tag(.null) else {
            entries = []
            return
        }
        guard case .mapping(let mapping) = root else {
            throw CommandFailure(.configuration, "\(path): must have one option a line, such as 'port: 7000'")
        }
        var entries: [Entry] = []
        var mistakes: [OptionFileMistake] = []
        for (key, value) in mapping {
            let line = (key.mark ?? value.mark)?.line
            do throws(OptionFileMistake) {
                var entry = try Self.entry(key, value)
                entry.line = line
                entries.append(entry)
            } catch {
                mistakes.append(OptionFileMistake(line: line, text: error.text))
                guard mistakes.count <= OptionFileMistake.most else { break }
            }
        }
        guard mistakes.isEmpty else {
            // A key that nothing is known of may be meant for any other option.
            let missing = Set(DeclaredOption.all.map(\.name)).subtracting(entries.map(\.option.name))
            let wrong = OptionFileMistake.wrongValues(of: entries, leftOut: missing)
            throw OptionFileMistake.failure(mistakes + wrong, in: path)
        }
        self.entries = entries
    }

    private static func entry(_ key: Node, _ value: Node) throws(OptionFileMistake) -> Entry {
        guard let name = key.scalar?.string else {
            throw OptionFileMistake(text: "a key must be the name of an option")
        }
        guard let option = DeclaredOption.all.first(where: { $0.name == name }) else {
            throw OptionFileMistake(text: unknown(name))
        }
        switch value {
        case .sequence(let sequence):
            guard option.isRepeating else { throw OptionFileMistake(text: "\(name) takes one value, not a list") }
            var values: [String] = []
            for item in sequence { values.append(try text(of: item, for: option)) }
            return Entry(option: option, values: values)
        case .scalar:
            guard option.isFlag else { return Entry(option: option, values: [try text(of: value, for: option)]) }
            guard let isOn = value.bool else { throw OptionFileMistake(text: "\(name) is either true or false") }
            return Entry(option: option, values: isOn ? ["true"] : [])
        default:
            throw OptionFileMistake(text: "\(name) takes a value\(option.isRepeating ? " or a list of them" : "")")
        }
    }

    /// A value as it was written: what YAML takes for a number or a truth value is text to the command line.
    private static func text(of value: Node, for option: DeclaredOption) throws(OptionFileMistake) -> String {
        guard let text = value.scalar?.string, !text.isEmpty, value.tag != Tag(.null) else {
            throw OptionFileMistake(text: "\(option.name) has no value: give it one, or remove the line")
        }
        // Programs that write YAML make true of on.
        if option.choices.contains("on"), !option.choices.contains(text), let isOn = value.bool {
            return isOn ? "on" : "off"
        }
        return text
    }

    private static func unknown(_ name: String) -> String {
        let shown = "'\(name.prefix(64))'"
        if DeclaredOption.commandLineOnly.contains(name) { return "\(shown) is possible on the command line only" }
        let lead = name.hasPrefix("--") ? "keys have no dashes in front" : "there is no option \(shown)"
        let nearest = DeclaredOption.all.map(\.name)
            .map { (name: $0, distance: EditDistance.between(bare(name), bare($0))) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(2, nearest.name.count / 3) else {
            return "\(lead); confrelay config print lists all"
        }
        return "\(lead); did you mean '\(nearest.name)'?"
    }

    /// A name without what people write differently: case, dashes and underscores.
    private static func bare(_ name: String) -> String {
        name.prefix(64).lowercased().filter { $0 != "-" && $0 != "_" }
    }

    /// The reason for which a file cannot be read, or is no YAML, for people.
    static func reason(_ error: any Error) -> String {
        switch error {
        case YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _):
            "line \(mark.line): is no YAML: \(problem)"
        case YamlError.duplicatedKeysInMapping(let duplicates, let context):
            "line \(context.mark.line): the key '\(duplicates.first ?? "")' is there twice"
        default: TextFile.reason(error)
        }
    }
}

/// The distance of two words: the characters to insert, remove or replace (Levenshtein).
enum EditDistance {
    static func between(_ first: String, _ second: String) -> Int {
        let first = Array(first)
        let second = Array(second)
        var row = Array(0...second.count)
        for (line, character) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
