public import NIOCore

/// Where a movie's bytes go, one after the other: for owners of files who watch over space, errors and durability.
///
/// Called on the thread that writes the movie.
public protocol MovieFile: AnyObject {
    /// Appends all the bytes.
    ///
    /// - Throws: Anything; the movie's writer then throws `MediaFileError.cannotWrite`, and what is appended later is
    ///   lost.
    func append(_ bytes: ByteBuffer) throws
}
