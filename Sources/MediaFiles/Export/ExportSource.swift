public import MediaCore
public import NIOCore

/// What an export shows and plays, from time zero on. Called on one thread.
public protocol ExportSource: AnyObject {
    /// How long it is.
    var duration: Duration { get }
    /// The picture at a time. Times rise within a pass; an earlier one begins another pass. At one time it is the same
    /// picture in each pass, to the bit.
    func picture(at time: MediaTime) throws -> PixelBuffer
    /// The next Opus packet of 20 ms; nil at the end. The first one is played at time zero.
    func nextAudio() throws -> ByteBuffer?
}
