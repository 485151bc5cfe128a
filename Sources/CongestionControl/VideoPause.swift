/// The reason for which a controller pauses video.
public enum VideoPause: String, Hashable, Sendable {
    /// A pause of some hundred milliseconds to measure how long packets take over the empty path. Viewers need not be
    /// told.
    case emptyPathProbe
    /// The path does not carry the minimum rate or a useful part of it. Viewers should be told.
    case slowPath
}
