import ConferenceClient
import Foundation
import H264
import MediaCore
import NIOCore
import PixelTransfer
import VideoCoding

/// Pictures of one size in a file, to be gone through several times; only one of them is in memory at a time.
final class PictureReel {
    let dimensions: VideoDimensions
    private(set) var count = 0

    private let file: FileHandle
    private let pool: PixelBufferPool
    private let transfer: PixelTransferSession

    init(path: String, dimensions: VideoDimensions) throws {
        self.dimensions = dimensions
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forUpdatingAtPath: path)
        else { throw BenchmarkError.system(reason: "\(path) cannot be made") }
        self.file = file
        pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        transfer = PixelTransferSession(destination: PixelBufferAttributes(formats: [.i420], dimensions: dimensions))
    }

    /// Adds a picture, scaled to the reel's size.
    func append(_ picture: PixelBuffer) throws {
        let fitted: PixelBuffer
        do {
            fitted = try transfer.transfer(picture)
        } catch {
            throw BenchmarkError.codecFailed(reason: "\(error)")
        }
        var bytes = Data(capacity: frameSize)
        for plane in 0..<3 {
            let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: dimensions)
            fitted.withPlane(plane) { samples, stride in
                for row in 0..<rows {
                    bytes.append(
                        contentsOf: UnsafeRawBufferPointer(rebasing: samples[(row * stride)...].prefix(rowBytes)))
                }
            }
        }
        try file.seekToEnd()
        try file.write(contentsOf: bytes)
        count += 1
    }

    /// Adds the first pictures of a file: Y4M, or a raw H.264 stream. Frames that cannot be decoded are left out.
    ///
    /// - Returns: The number of pictures that it added.
    func append(contentsOf path: String, atMost limit: Int) throws -> Int {
        let before = count
        if path.hasSuffix(".y4m") {
            try appendY4M(path, atMost: limit)
        } else {
            try appendStream(path, atMost: limit)
        }
        return count - before
    }

    private func appendStream(_ path: String, atMost limit: Int) throws {
        let end = count + limit
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BenchmarkError.system(reason: "\(path) cannot be read")
        }
        var reader = ElementaryStreamReader()
        let pipeline = DecodingPipeline()
        var failure: (any Error)?
        func take(_ event: DecodingEvent) {
            guard failure == nil, count < end, case .output(let output) = event, let picture = output.picture else {
                return
            }
            do {
                try append(picture.pixelBuffer)
            } catch {
                failure = error
            }
        }
        reader.append(ByteBuffer(bytes: data))
        while count < end, failure == nil, let sample = reader.nextSample() ?? reader.finish() {
            pipeline.decode(sample, take)
        }
        pipeline.finishDelayedFrames(take)
        if let failure { throw failure }
    }

    private func appendY4M(_ path: String, atMost limit: Int) throws {
        let source = try Y4MVideoSource(path: path)
        let frameSize = (0..<3).reduce(6) { sum, plane in
            let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: source.dimensions)
            return sum + rowBytes * rows
        }
        // The source starts over at the end of its file.
        let size = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        for _ in 0..<min(limit, size / frameSize) {
            guard case .picture(let picture) = try source.nextFrame(wallClockMilliseconds: 0).content else { return }
            try append(picture)
        }
    }

    private var frameSize: Int {
        (0..<3).reduce(0) { sum, plane in
            let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: dimensions)
            return sum + rowBytes * rows
        }
    }

    /// The picture at `number` of the reel played forwards and backwards, over and over.
    func pictureToAndFro(_ number: Int) throws -> PixelBuffer {
        let turn = max(1, 2 * (count - 1))
        let position = number % turn
        return try picture(position < count ? position : turn - position)
    }

    /// The picture at `index`.
    func picture(_ index: Int) throws -> PixelBuffer {
        try file.seek(toOffset: UInt64(index * frameSize))
        guard let bytes = try file.read(upToCount: frameSize), bytes.count == frameSize else {
            throw BenchmarkError.system(reason: "picture \(index) cannot be read back")
        }
        var picture = pool.makeBuffer()
        var offset = 0
        for plane in 0..<3 {
            let (rowBytes, rows) = PixelFormat.i420.planeSize(plane, of: dimensions)
            picture.withMutablePlane(plane) { target, stride in
                for row in 0..<rows {
                    let line = UnsafeMutableRawBufferPointer(rebasing: target[(row * stride)...].prefix(rowBytes))
                    bytes.copyBytes(to: line, from: offset..<offset + rowBytes)
                    offset += rowBytes
                }
            }
        }
        return picture.freeze()
    }
}
