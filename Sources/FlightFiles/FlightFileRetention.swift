import Foundation

/// Limits the number of recordings in a folder: before a new file is made, the oldest complete files are removed.
public struct FlightFileRetention: Sendable {
    /// The folder. Only files that end with `.flight` count.
    let folder: String
    /// The most files.
    let maximumCount: Int

    public init(folder: String, maximumCount: Int) {
        self.folder = folder
        self.maximumCount = maximumCount
    }

    /// Removes files until there is room for one more.
    ///
    /// - Parameter open: The paths of the files that are still being written.
    /// - Returns: True if there is room.
    func makeRoom(besides open: Set<String>) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let paths = names.filter { $0.hasSuffix(".flight") }.map { folder + "/" + $0 }
        var excess = paths.count + 1 - maximumCount
        guard excess > 0 else { return true }
        let complete = paths.filter { !open.contains($0) }.map { ($0, modificationTime(of: $0)) }
        for (path, _) in complete.sorted(by: { $0.1 < $1.1 }).prefix(excess)
        where (try? FileManager.default.removeItem(atPath: path)) != nil {
            excess -= 1
        }
        return excess <= 0
    }

    private func modificationTime(of path: String) -> Date {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.modificationDate] as? Date ?? .distantPast
    }
}
