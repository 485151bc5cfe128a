import ArgumentParser

/// The relay's options from both places: those of the file of `--config`, and those of the command line, which win.
struct RelayArguments {
    let commandLine: [String]
    let file: OptionFile?

    /// Reads the file that the command line names, if any.
    init(_ commandLine: [String]) throws(CommandFailure) {
        self.commandLine = commandLine
        if let name = Self.optionWithEmptyValue(in: commandLine) {
            throw CommandFailure(.usage, "--\(name) has an empty value: give it one, or leave the option out")
        }
        let path = try Self.filePath(in: commandLine)
        file = try path.map { path throws(CommandFailure) in try OptionFile(path: path) }
    }

    /// The command that they ask for: the relay, or help.
    func parse() throws -> any ParsableCommand {
        do {
            return try ConfrelayCommand.parseAsRoot(fileArguments(without: namedOnCommandLine) + commandLine)
        } catch {
            guard let file, ConfrelayCommand.exitCode(for: error) != .success else { throw error }
            // Says which of the two places is wrong.
            let mistakes = OptionFileMistake.wrongValues(of: file.entries)
            guard mistakes.isEmpty else { throw OptionFileMistake.failure(mistakes, in: file.path) }
            throw error
        }
    }

    /// Where an option's value comes from.
    enum Source: String, Encodable {
        case commandLine = "command line"
        case file
        case `default`
    }

    /// The values that hold for an option: none for a flag that is off, or an option without a default.
    func values(of option: DeclaredOption) -> (values: [String], source: Source) {
        if namedOnCommandLine.contains(option.name) {
            return (Self.values(of: option, in: commandLine), .commandLine)
        }
        if let entry = file?.entries.first(where: { $0.option == option }) { return (entry.values, .file) }
        return (option.defaultValue.map { [$0] } ?? [], .default)
    }

    private var namedOnCommandLine: Set<String> {
        Set(Self.optionTokens(commandLine).map(\.name))
    }

    private func fileArguments(without excluded: Set<String>) -> [String] {
        (file?.entries ?? []).filter { !excluded.contains($0.option.name) }.flatMap(\.arguments)
    }

    private static func filePath(in arguments: [String]) throws(CommandFailure) -> String? {
        let tokens = optionTokens(arguments).filter { $0.name == "config" }
        guard tokens.count <= 1 else { throw CommandFailure(.usage, "give --config once: one file has all options") }
        // Without a value the parser reports the missing value.
        return tokens.first.flatMap { $0.value ?? value(after: $0.index, in: arguments) }
    }

    /// The first option whose value is empty, as that of a shell's variable is which is not set: no option takes that,
    /// and messages about a file without a name are hard to understand.
    private static func optionWithEmptyValue(in arguments: [String]) -> String? {
        let names = Set(DeclaredOption.declared.lazy.filter { !$0.isFlag }.map(\.name))
        return optionTokens(arguments)
            .first { names.contains($0.name) && ($0.value ?? value(after: $0.index, in: arguments)) == "" }?.name
    }

    private static func values(of option: DeclaredOption, in arguments: [String]) -> [String] {
        let found = optionTokens(arguments).filter { $0.name == option.name }
        if option.isFlag { return found.isEmpty ? [] : ["true"] }
        let values = found.compactMap { $0.value ?? value(after: $0.index, in: arguments) }
        return option.isRepeating ? values : values.suffix(1)
    }

    private static func value(after index: Int, in arguments: [String]) -> String? {
        arguments.indices.contains(index + 1) ? arguments[index + 1] : nil
    }

    /// An option on a command line: `--name`, or `--name=value`. No value of an option begins with dashes.
    private static func optionTokens(_ arguments: [String]) -> [(index: Int, name: String, value: String?)] {
        arguments.prefix { $0 != "--" }.enumerated().compactMap { index, argument in
            guard argument.hasPrefix("--") else { return nil }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (index, String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
        }
    }
}
