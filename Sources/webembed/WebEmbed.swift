import Foundation

/// Writes files as Swift code: `webembed OUTPUT [NAME FILE]...`.
///
/// The build runs it; see `Plugins/EmbedWebFiles`. Contents are Base64 in string literals, which the compiler copies
/// into the program as they are.
@main
enum WebEmbed {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2, arguments.count.isMultiple(of: 2) else {
            try? FileHandle.standardError.write(contentsOf: Data("usage: webembed OUTPUT [NAME FILE]...\n".utf8))
            exit(64)
        }
        var code = """
            /// Files that are served: their paths and, in Base64, their contents.
            enum EmbeddedWebFiles {
                static let all: [(path: String, base64: String)] = [

            """
        for index in stride(from: 2, to: arguments.count, by: 2) {
            let contents = try Data(contentsOf: URL(fileURLWithPath: arguments[index + 1]))
            code += "        (\(String(reflecting: arguments[index])), \"\(contents.base64EncodedString())\"),\n"
        }
        code += "    ]\n}\n"
        try Data(code.utf8).write(to: URL(fileURLWithPath: arguments[1]))
    }
}
