import Glibc

/// Tells whether files can be written at a path.
package enum WritablePath {
    /// Nothing can be written there.
    package struct NotUsable: Error {
        package let reason: String
    }

    /// Makes a folder that nobody else can read, and those above it, and sees that it can be written to.
    package static func makeFolder(_ path: String) throws(NotUsable) {
        guard make(path) else { throw failure("it cannot be made") }
        guard isWritableFolder(path) else { throw failure("it cannot be written to") }
    }

    /// Says why `makeFolder` would fail, as far as that shows while nothing is made.
    package static func checkFolder(_ path: String) throws(NotUsable) {
        var folder = path
        while !exists(folder) { folder = parent(of: folder) }
        guard isWritableFolder(folder) else {
            throw failure(folder == path ? "it cannot be written to" : "it cannot be made in \(folder)")
        }
    }

    /// Says why a file could not be opened for writing, or made, while nothing is made.
    package static func checkFile(_ path: String) throws(NotUsable) {
        guard exists(path) else {
            let folder = parent(of: path)
            guard isWritableFolder(folder) else { throw failure("it cannot be made in \(folder)") }
            return
        }
        guard access(path + "/", F_OK) != 0 else { throw NotUsable(reason: String(cString: strerror(EISDIR))) }
        guard access(path, W_OK) == 0 else { throw failure("it cannot be written to") }
    }

    /// Makes a folder and those above it. Where it fails, `errno` says why.
    static func make(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, !path.isEmpty, make(parent(of: path)) else { return false }
        return mkdir(path, 0o700) == 0 || errno == EEXIST
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || errno != ENOENT }

    private static func isWritableFolder(_ path: String) -> Bool { access(path + "/", W_OK | X_OK) == 0 }

    /// A path without its last part. A part `..` is not resolved: the folder before it may not be there yet.
    private static func parent(of path: String) -> String {
        var rest = path[...]
        while rest.last == "/" { rest.removeLast() }
        guard let slash = rest.lastIndex(of: "/") else { return "." }
        return slash == rest.startIndex ? "/" : String(rest[..<slash])
    }

    /// A call of the system has just failed.
    private static func failure(_ what: String) -> NotUsable {
        NotUsable(reason: "\(what): \(String(cString: strerror(errno)))")
    }
}
