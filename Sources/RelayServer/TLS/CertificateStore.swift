import Foundation
import Logging
import SecureTransport
import Synchronization

/// The certificate of new connections. It is read again when its files change.
final class CertificateStore: Sendable {
    private struct State {
        var context: TLSServerContext
        /// The versions of the files that were last read, whether they could be used or not.
        var stamps: [FileStamp?]
    }

    private let files: TLSFiles
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the files.
    init(files: TLSFiles, logger: Logger) throws(StartupError) {
        self.files = files
        self.logger = logger
        let stamps = FileStamp.of(files)
        state = Mutex(State(context: try files.load(logger: logger), stamps: stamps))
    }

    /// The TLS context of new connections.
    var context: TLSServerContext { state.withLock { $0.context } }

    /// Reads the files again. If they cannot be used, the old certificate stays and the log says why.
    func reload() {
        reload(stamps: FileStamp.of(files))
    }

    /// Reads the files again if they have changed.
    func reloadIfChanged() {
        let stamps = FileStamp.of(files)
        guard state.withLock({ $0.stamps != stamps }) else { return }
        reload(stamps: stamps)
    }

    private func reload(stamps: [FileStamp?]) {
        do throws(StartupError) {
            let context = try files.load(logger: logger)
            state.withLock { $0 = State(context: context, stamps: stamps) }
            logger.notice("the TLS certificate was read again", metadata: ["file": "\(files.certificate)"])
        } catch {
            state.withLock { $0.stamps = stamps }
            logger.error("the earlier TLS certificate stays in use: \(error)")
        }
    }

    /// The identity of a file's version, known without reading the file.
    private struct FileStamp: Equatable {
        var modified: Date
        var size: Int
        /// A file that is replaced by a rename has another number.
        var number: Int

        static func of(_ files: TLSFiles) -> [FileStamp?] {
            [files.certificate, files.key].map { FileStamp(path: $0) }
        }

        init?(path: String) {
            // Certificate tools often replace a symbolic link.
            let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved),
                let modified = attributes[.modificationDate] as? Date
            else { return nil }
            self.modified = modified
            size = attributes[.size] as? Int ?? 0
            number = attributes[.systemFileNumber] as? Int ?? 0
        }
    }
}
