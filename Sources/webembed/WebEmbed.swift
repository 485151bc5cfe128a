import Foundation

/// Writes files as Swift code: `webembed OUTPUT FOLDER FILE...`, the files named relative to the folder.
///
/// The build runs it; see `Plugins/EmbedWebFiles`. Contents are Base64 in string literals, which the compiler copies
/// into the program as they are.
@main
enum WebEmbed {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else {
            FileHandle.standardError.write(Data("usage: webembed OUTPUT FOLDER FILE...\n".utf8))
            exit(64)
        }
        let folder = URL(fileURLWithPath: arguments[2])
        var code = """
            /// The page's files: their paths and, in Base64, their contents.
            enum EmbeddedWebFiles {
                static let all: [(path: String, base64: String)] = [

            """
        for path in arguments.dropFirst(3) {
            let contents = try Data(contentsOf: folder.appending(path: path))
            code += "        (\(String(reflecting: path)), \"\(contents.base64EncodedString())\"),\n"
        }
        code += "    ]\n}\n"
        try Data(code.utf8).write(to: URL(fileURLWithPath: arguments[1]))
    }
}
