import ArgumentParser
import Foundation

/// An option of the relay, as its declaration describes it. `--help`, the file of `--config` and the manual pages are
/// made from the same declarations.
struct DeclaredOption: Hashable {
    /// Without dashes.
    var name: String
    /// True if it takes no value.
    var isFlag: Bool
    /// True if it may be given several times.
    var isRepeating: Bool
    /// The values that it takes; empty where others are possible.
    var choices: [String]
    /// The placeholder of its value in `--help`.
    var valueName: String
    /// The default, as `--help` states it; nil without one.
    var defaultValue: String?
    /// The heading that `--help` lists it under.
    var section: String
    var help: String

    /// The options that a file may set: all that `--help` lists, except those that only make sense on a command line.
    static let all: [DeclaredOption] = declared.filter { !commandLineOnly.contains($0.name) }

    /// Options that no file has.
    static let commandLineOnly: Set<String> = ["config", "help", "version"]

    /// All options of `confrelay --help`, in its order.
    static let declared: [DeclaredOption] = {
        guard let tool = try? JSONDecoder().decode(Tool.self, from: Data(ConfrelayCommand._dumpHelp().utf8)) else {
            preconditionFailure("the argument parser describes its options in another way than it did")
        }
        return tool.command.arguments.compactMap(DeclaredOption.init)
    }()

    private init?(_ argument: Argument) {
        guard argument.kind != "positional", let name = argument.preferredName?.name else { return nil }
        self.name = name
        isFlag = argument.kind == "flag"
        isRepeating = argument.isRepeating
        choices = argument.allValues ?? []
        valueName = argument.valueName ?? name
        section = argument.sectionTitle ?? ""
        help = argument.abstract ?? ""
        // The parser knows no default of options that it does not print itself; their help says it. Several words
        // describe a default, and are no value.
        defaultValue =
            argument.defaultValue ?? help.firstMatch(of: #/\(default: ([^) ]+)\)/#).map { String($0.output.1) }
    }

    /// The part of the parser's description that is of use here.
    private struct Tool: Decodable {
        var command: Command
    }

    private struct Command: Decodable {
        var arguments: [Argument]
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            var name: String
        }

        var kind: String
        var preferredName: Name?
        var isRepeating: Bool
        var allValues: [String]?
        var valueName: String?
        var defaultValue: String?
        var sectionTitle: String?
        var abstract: String?
    }
}
