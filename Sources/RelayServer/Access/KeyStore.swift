import Logging

/// The keys that tokens are checked with, from a file that may be read again.
actor KeyStore {
    private(set) var current: AccessKeys
    private let path: String
    private let logger: Logger

    init(file path: String, logger: Logger) throws(StartupError) {
        do {
            current = try AccessKeys(file: path)
        } catch {
            throw .accessKeysNotUsable(path: path, reason: error.description)
        }
        self.path = path
        self.logger = logger
    }

    /// Reads the file again. If it cannot be used, the keys of before stay, and the log says why.
    func reload() {
        // Its reader would wait for a writer, and all joins for the keys.
        guard !TextFile.isPipe(path) else {
            logger.warning("the keys of tokens stay as they were: \(path) is a pipe, which cannot be read again")
            return
        }
        do {
            current = try AccessKeys(file: path)
            logger.notice("the keys of tokens were read again from \(path)")
        } catch {
            logger.error("the keys of tokens stay as they were: \(path) cannot be used: \(error.description)")
        }
    }
}
