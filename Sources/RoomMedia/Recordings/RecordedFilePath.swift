import RoomAPI

/// The path of a film or track in a recording's folder, as a request names it.
package struct RecordedFilePath {
    let text: String
    package let mediaType: String

    private static let mediaTypes = ["mp4": "video/mp4", "vtt": "text/vtt; charset=utf-8", "png": "image/png"]
    private static let longestName = 64

    /// - Returns: Nil for anything but the files of tracks and complete films.
    package init?(folder: String, name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let type = Self.mediaTypes[String(parts[1])], name.utf8.count <= Self.longestName,
            parts[0].first != "-", RecordingStore.isID(String(parts[0])),
            folder == RecordingManifest.trackFolder || folder == ExportFolder.name
        else { return nil }
        text = "\(folder)/\(name)"
        mediaType = type
    }
}
