public import LinkEmulation
import MediaFiles
import NIOCore

extension LinkProfile {
    /// Reads the value of `--uplink` or `--downlink`.
    ///
    /// - Throws: `ClientError.usage`, or `.unreadableInput` for a trace that cannot be read.
    public init(argument: String) throws(ClientError) {
        do {
            try self.init(parsing: argument) { path throws(LinkProfileError) in
                do {
                    return String(buffer: try InputFile(path: path).readToEnd(limit: 256 << 20))
                } catch {
                    throw .unreadableTrace(path: path, reason: "\(error)")
                }
            }
        } catch {
            switch error {
            case .unreadableTrace(let path, _): throw .unreadableInput(path: path, reason: "it cannot be read")
            default: throw .usage(reason: "'\(argument)' is not a link: \(error)")
            }
        }
    }
}
