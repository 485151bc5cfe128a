import Compositing
import Conference
public import Logging

extension RelayServer {
    /// Reads the files that a configuration names, as `bind` does, and sees where it could write. Changes nothing.
    /// - Throws: Why `bind` would refuse the first that cannot be used.
    public static func check(_ configuration: RelayServerConfiguration, logger: Logger) throws(StartupError) {
        var configuration = configuration
        _ = try read(&configuration, logger: logger)
        _ = try configuration.cluster?.etcd.readTLSFiles()
        if let path = configuration.accessKeys { _ = try KeyStore(file: path, logger: logger) }
        for path in WrittenPath.all(of: configuration) { try path.check() }
    }

    static func read(
        _ configuration: inout RelayServerConfiguration, logger: Logger
    ) throws(StartupError) -> CertificateStore? {
        if let folder = configuration.imageFolder {
            do throws(ImageLibraryError) {
                configuration.relay.images = try ImageLibrary(folder: folder)
            } catch {
                throw .imagesNotUsable(reason: "\(error)")
            }
        }
        return try configuration.tls.map { files throws(StartupError) in
            try CertificateStore(files: files, logger: logger)
        }
    }
}
