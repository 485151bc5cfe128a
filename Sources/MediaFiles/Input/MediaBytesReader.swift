import CLibAVFormat
import Glibc

/// libavformat's view of opened bytes: it reads and seeks there.
final class MediaBytesReader {
    private static let bufferSize = 64 << 10
    /// No file is as large: sums of places up to here do not overflow, whatever a server or a film states.
    static let largestPlace: Int64 = 1 << 60

    let context: UnsafeMutablePointer<AVIOContext>
    private let reading: Reading

    /// The object that libavformat's callbacks get.
    final class Reading {
        let bytes: any MediaBytes
        let part: Range<Int64>
        /// The place in the part.
        var offset: Int64 = 0

        init(_ bytes: any MediaBytes, part: Range<Int64>) {
            self.bytes = bytes
            self.part = part
        }

        /// The size of the part, as far as it is known.
        private var count: Int64? {
            let known = part.upperBound < .max ? Int64(part.count) : nil
            return bytes.count.map { min(max($0 - part.lowerBound, 0), known ?? .max) } ?? known
        }

        func read(_ base: UnsafeMutablePointer<UInt8>, _ size: Int32) -> Int32 {
            let left = Int64(part.count) - offset
            let wanted = min(Int64(max(0, size)), left)
            guard wanted > 0 else { return LibAVFormat.endOfFile }
            let buffer = UnsafeMutableRawBufferPointer(start: base, count: Int(wanted))
            do throws(StreamFailure) {
                let count = try bytes.read(into: buffer, at: part.lowerBound + offset)
                guard count > 0 else { return LibAVFormat.endOfFile }
                offset += Int64(count)
                return Int32(clamping: count)
            } catch {
                return error == .timedOut ? LibAVFormat.interrupted : LibAVFormat.inputOutputError
            }
        }

        func seek(_ target: Int64, _ whence: Int32) -> Int64 {
            if whence & AVSEEK_SIZE != 0 { return count ?? -1 }
            let (origin, hasOrigin): (Int64, Bool) =
                switch whence & ~AVSEEK_FORCE {
                case SEEK_SET: (0, true)
                case SEEK_CUR: (offset, true)
                case SEEK_END: (count ?? 0, count != nil)
                default: (0, false)
                }
            let (sum, overflow) = origin.addingReportingOverflow(target)
            guard hasOrigin, !overflow, (0...largestPlace).contains(sum) else { return Int64(-EINVAL) }
            offset = sum
            return sum
        }
    }

    /// Makes a reader; nil when there is no memory.
    ///
    /// - Parameter part: The part of the bytes that libavformat reads.
    init?(_ bytes: any MediaBytes, part: Range<Int64> = 0..<Int64.max) {
        let reading = Reading(bytes, part: part)
        guard let buffer = av_malloc(Self.bufferSize) else { return nil }
        let context = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0,
            Unmanaged.passUnretained(reading).toOpaque(),
            { opaque, base, size in
                guard let opaque, let base else { return Int32(-EINVAL) }
                return Unmanaged<Reading>.fromOpaque(opaque).takeUnretainedValue().read(base, size)
            }, nil,
            { opaque, target, whence in
                guard let opaque else { return Int64(-EINVAL) }
                return Unmanaged<Reading>.fromOpaque(opaque).takeUnretainedValue().seek(target, whence)
            })
        guard let context else {
            av_free(buffer)
            return nil
        }
        context.pointee.seekable = bytes.count == nil ? 0 : AVIO_SEEKABLE_NORMAL
        self.reading = reading
        self.context = context
    }

    /// The URL of the file; nil: the one by which it was opened.
    var location: String? { reading.bytes.location }

    deinit {
        var context: UnsafeMutablePointer<AVIOContext>? = context
        // libavformat may have replaced the buffer.
        av_freep(&self.context.pointee.buffer)
        avio_context_free(&context)
    }
}
