import Foundation
import PackagePlugin

/// Puts the files under a target's `Resources/web`, and the description of the HTTP interface, into its code, so that
/// an installed program is one file.
///
/// SwiftPM's own `.embedInCode` writes arrays of numbers, on which the compiler spends a minute for a page of this
/// size.
@main
struct EmbedWebFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let folder = target.directoryURL.appending(components: "Resources", "web")
        let output = context.pluginWorkDirectoryURL.appending(component: "EmbeddedWebFiles.swift")
        var files = try regularFiles(in: folder).map { path in (name: path, file: folder.appending(path: path)) }
        let description = context.package.directoryURL.appending(components: "docs", "openapi.json")
        files.append((name: "openapi.json", file: description))
        return [
            .buildCommand(
                displayName: "Embedding \(files.count) files",
                executable: try context.tool(named: "webembed").url,
                arguments: [output.path] + files.flatMap { [$0.name, $0.file.path] },
                inputFiles: files.map(\.file), outputFiles: [output])
        ]
    }

    /// The paths of all files below a folder, relative to it and in order; hidden ones are left out.
    private func regularFiles(in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter { path in
            let isHidden = path.split(separator: "/").contains { $0.hasPrefix(".") }
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: folder.appending(path: path).path, isDirectory: &isFolder)
            return exists && !isHidden && !isFolder.boolValue
        }
    }
}
