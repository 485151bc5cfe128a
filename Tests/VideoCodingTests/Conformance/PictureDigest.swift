import CLibAVCodec
import MediaCore

/// SHA-1 over pictures, as raw I420 files have them: planes without padding, one after the other.
final class PictureDigest {
    private let state: OpaquePointer

    init() {
        state = av_sha_alloc()!
        av_sha_init(state, 160)
    }

    deinit {
        av_free(UnsafeMutableRawPointer(state))
    }

    func add(_ picture: PixelBuffer) {
        for plane in 0..<picture.planeCount {
            let (rowBytes, rows) = picture.format.planeSize(plane, of: picture.dimensions)
            picture.withPlane(plane) { bytes, stride in
                let base = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
                for row in 0..<rows { av_sha_update(state, base + row * stride, rowBytes) }
            }
        }
    }

    /// The digest in hexadecimal; ends it.
    func finish() -> String {
        var digest = [UInt8](repeating: 0, count: 20)
        av_sha_final(state, &digest)
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func of(_ picture: PixelBuffer) -> String {
        let digest = PictureDigest()
        digest.add(picture)
        return digest.finish()
    }
}
