import Foundation
import MediaFiles
import Simulation

/// Writes the files that the command line names, and tables.
enum Output {
    /// The name of a file that stands for standard output.
    private static let standardOutput = "-"

    static func write(_ data: Data, to path: String) throws {
        guard path != standardOutput else { return try writeResult(data) }
        try attempt { () throws(MediaFileError) in try OutputFile.write(data, to: path) }
    }

    static func write(_ text: String, to path: String) throws {
        try write(Data(text.utf8), to: path)
    }

    /// Writes a result for people to standard output, or to standard error if one of the files is standard output.
    /// Write files before: a pipe whose reader closes it, such as `head`, ends the program.
    static func writeResult(_ lines: String, besides files: [String?] = []) throws {
        guard !files.contains(standardOutput) else { return InputError.note(lines) }
        try writeResult(Data((lines + "\n").utf8))
    }

    /// Writes a result to standard output.
    static func writeResult(_ data: Data) throws {
        try attempt { () throws(MediaFileError) in try OutputFile.writeToStandardOutput(data) }
    }

    private static func attempt(_ writing: () throws(MediaFileError) -> Void) throws {
        do { try writing() } catch { throw InputError.unwritable(error.description) }
    }

    /// Checks before a long run that the files can be written.
    static func check(_ paths: [String?]) throws {
        guard paths.count(where: { $0 == standardOutput }) <= 1 else {
            throw InputError.unwritable("only one file can be '-', which is standard output")
        }
        for path in paths.compactMap({ $0 }) where path != standardOutput {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
                guard FileManager.default.isWritableFile(atPath: folder) else {
                    throw InputError.unwritable(
                        "cannot write '\(path)': '\(folder)' is no folder that can be written to")
                }
                continue
            }
            guard !isFolder.boolValue else {
                throw InputError.unwritable("cannot write '\(path)': it is a folder; give a file's name")
            }
            guard FileManager.default.isWritableFile(atPath: path) else {
                throw InputError.unwritable("cannot write '\(path)': this user may not change the file")
            }
        }
    }

    /// Makes a folder for reports if it does not exist.
    static func prepare(folder: String?) throws {
        guard let folder else { return }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw InputError.unwritable(
                "cannot make the folder '\(folder)': a part of its path is no folder, or cannot be written to")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw InputError.unwritable("cannot write into the folder '\(folder)'")
        }
    }

    static func json(_ results: [ScenarioResult]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(results)
    }

    /// Writes `report.html`, `results.json` (without samples) and `flows.csv` into a folder.
    static func writeReport(_ results: [ScenarioResult], title: String, command: String, folder: String) throws {
        let page = HTMLReport(Comparison(results), title: title, command: command)
        try write(page.text, to: "\(folder)/report.html")
        try write(json(results.map { $0.reduced(toSamples: 0) }), to: "\(folder)/results.json")
        try write(FlowTable(results).csv, to: "\(folder)/flows.csv")
    }

    /// Writes an SVG file for each scenario into a folder.
    static func writePlots(_ results: [ScenarioResult], folder: String) throws {
        let comparison = Comparison(results.map { $0.reduced(toSamples: CaseFigure.sampleCount) })
        for item in comparison.cases {
            let figure = CaseFigure(comparison, item)
            try write(figure.svg, to: "\(folder)/\(figure.fileName)")
        }
    }
}
