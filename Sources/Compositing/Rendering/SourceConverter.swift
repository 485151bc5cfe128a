import MediaCore
import PixelTransfer

/// Converts the pictures of sources to the formats that a compositor accepts, each once.
struct SourceConverter {
    private struct Conversion {
        let session: PixelTransferSession
        var original: PixelBuffer
        /// The converted picture; nil if the conversion failed.
        var result: PixelBuffer?
        var isUsed: Bool
    }

    let attributes: PixelBufferAttributes
    private var conversions: [SourceID: Conversion] = [:]
    private(set) var conversionCount = 0
    /// Pictures that could not be.
    private(set) var failureCount = 0

    init(attributes: PixelBufferAttributes) {
        self.attributes = attributes
    }

    /// The picture in a form that satisfies the attributes; nil if it cannot be converted.
    mutating func convert(_ picture: PixelBuffer, of source: SourceID) -> PixelBuffer? {
        if let index = conversions.index(forKey: source) {
            conversions.values[index].isUsed = true
            if conversions.values[index].original === picture { return conversions.values[index].result }
            let result = transfer(picture, conversions.values[index].session)
            conversions.values[index].original = picture
            conversions.values[index].result = result
            return result
        }
        // A session a source: its pools fit the source's size.
        let session = PixelTransferSession(destination: attributes)
        let result = transfer(picture, session)
        conversions[source] = Conversion(session: session, original: picture, result: result, isUsed: true)
        return result
    }

    private mutating func transfer(_ picture: PixelBuffer, _ session: PixelTransferSession) -> PixelBuffer? {
        do throws(PixelTransferError) {
            let result = try session.transfer(picture)
            conversionCount += 1
            return result
        } catch {
            failureCount += 1
            return nil
        }
    }

    /// Releases conversions that were not used since the last call.
    mutating func endPass() {
        guard !conversions.isEmpty else { return }
        var unused: SourceID?
        for index in conversions.indices {
            if !conversions.values[index].isUsed { unused = conversions.keys[index] }
            conversions.values[index].isUsed = false
        }
        if let unused { conversions[unused] = nil }
    }
}
