public import MediaCore
public import NIOCore

/// The pictures and the audio of an export, from time zero on. Called on one thread.
public protocol ExportSource: AnyObject {
    /// The length of the film.
    var duration: Duration { get }
    /// Tells what it shows and plays from anything else: an export that was interrupted goes on with the same alone.
    var identity: String { get }
    /// The film's chapters, in the order of time; none: it has no list of chapters.
    var chapters: [MovieChapter] { get }
    /// The events of the film, for a file of captions beside it; without any there is no such file.
    var captions: [WebVTTCue] { get }
    /// The picture at a time. Times rise within a pass; an earlier one begins another pass. At one time it is the same
    /// picture in each pass, to the bit.
    func picture(at time: MediaTime) throws -> PixelBuffer
    /// Does what takes long before the first packet of audio.
    ///
    /// - Parameters:
    ///   - isCancelled: Asked now and then; if so, the source throws `ExportError.cancelled`.
    ///   - onProgress: Told how much is done, from 0 to 1.
    func prepareAudio(isCancelled: () -> Bool, onProgress: (Double) -> Void) throws
    /// The next Opus packet of 20 ms; nil at the end. The first one is played at time zero.
    func nextAudio() throws -> ByteBuffer?
    /// Writes a picture that stands for the film as a PNG file.
    func writePoster(to path: String) throws
}
