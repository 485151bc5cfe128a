import Foundation

/// A file that cannot be read.
public enum UnreadableFile {
    /// The reason, for people: the text of the system's library names an operation and a number.
    public static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "this user may not read it"
        case .fileReadUnknown: "it is a folder, or its disk fails"
        case .fileReadCorruptFile: "it is no text in UTF-8"
        default: error.localizedDescription
        }
    }
}
