import Testing

@testable import MediaCore

/// Fills every byte of every plane.
private func fill(_ buffer: inout MutablePixelBuffer, with value: UInt8) {
    for index in 0..<buffer.format.planeCount {
        buffer.withMutablePlane(index) { bytes, _ in
            for offset in bytes.indices { bytes[offset] = value }
        }
    }
}

private func filled(_ value: UInt8, from pool: PixelBufferPool) -> PixelBuffer {
    var buffer = pool.makeBuffer()
    fill(&buffer, with: value)
    return buffer.freeze()
}

private func address(_ picture: PixelBuffer) -> UInt {
    picture.withPlane(0) { bytes, _ in UInt(bitPattern: bytes.baseAddress) }
}

private func isFilled(_ picture: PixelBuffer, with value: UInt8) -> Bool {
    (0..<picture.planeCount).allSatisfy { index in
        picture.withPlane(index) { bytes, _ in bytes.allSatisfy { $0 == value } }
    }
}

@Suite struct PixelBufferPoolTests {
    private let dimensions = VideoDimensions(width: 32, height: 16)

    @Test func `memory comes back when the last holder lets go`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        var picture: PixelBuffer? = filled(1, from: pool)
        let first = picture.map(address)
        picture = nil
        picture = filled(2, from: pool)
        #expect(picture.map(address) == first)
        #expect(pool.allocationCount == 1)
    }

    @Test func `a picture that is still held is not written over`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        let held = filled(1, from: pool)
        let other = filled(2, from: pool)
        #expect(address(held) != address(other))
        #expect(isFilled(held, with: 1))
        #expect(pool.allocationCount == 2)
    }

    @Test func `a buffer that is dropped unfrozen comes back`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        for _ in 0..<3 { _ = pool.makeBuffer() }
        #expect(pool.allocationCount == 1)
    }

    @Test func `in steady state nothing is allocated`() {
        let pool = PixelBufferPool(format: .nv12, dimensions: dimensions)
        var held: [PixelBuffer] = []
        for round in 0..<100 {
            held.append(filled(UInt8(round), from: pool))
            if held.count > 3 { held.removeFirst() }
        }
        #expect(pool.allocationCount == 4)
        #expect(pool.statistics.recycled == 96)
        #expect(zip(held, [UInt8(97), 98, 99]).allSatisfy { isFilled($0, with: $1) })
    }

    @Test func `no more pictures are kept than the limit`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions, configuration: .init(maximumFreeCount: 2))
        var held = (0..<5).map { filled(UInt8($0), from: pool) }
        held.removeAll()
        held = (0..<5).map { filled(UInt8($0), from: pool) }
        #expect(pool.allocationCount == 8)
    }

    @Test func `pictures outlive their pool`() {
        var pool: PixelBufferPool? = PixelBufferPool(format: .i420, dimensions: dimensions)
        let picture = pool.map { filled(5, from: $0) }
        pool = nil
        #expect(picture.map { isFilled($0, with: 5) } == true)
    }

    @Test func `many threads may take and return at once`() async {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions, configuration: .init(maximumFreeCount: 64))
        let wholeCount = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var whole = 0
                    for round in 0..<100 {
                        let value = UInt8(truncatingIfNeeded: task &* 31 &+ round)
                        let picture = filled(value, from: pool)
                        await Task.yield()
                        if isFilled(picture, with: value) { whole += 1 }
                    }
                    return whole
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wholeCount == 800)
        #expect(pool.allocationCount <= 8)
    }

    @Test func `what holds a picture's memory is recycled with it`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        let identities = (0..<10).map { value in
            ObjectIdentifier(filled(UInt8(value), from: pool).storage)
        }
        #expect(Set(identities).count == 1)
        #expect(pool.allocationCount == 1)
    }

    @Test func `a recycled picture has no attachments of the one before`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        var buffer = pool.makeBuffer()
        buffer.attachments.cleanAperture = PixelRect(x: 0, y: 0, width: 8, height: 8)
        _ = buffer.freeze()
        #expect(pool.makeBuffer().freeze().attachments == PixelBufferAttachments())
        #expect(pool.allocationCount == 1)
    }

    @Test func `the minimum is there from the start and is kept`() {
        let clock = VirtualMediaClock()
        let pool = PixelBufferPool(
            format: .i420, dimensions: dimensions,
            configuration: .init(
                minimumCount: 3, maximumFreeCount: 1, aging: .init(maximumAge: .seconds(1), clock: clock)))
        #expect(pool.statistics.allocated == 3 && pool.statistics.free == 3)
        do {
            let held = (0..<5).map { filled(UInt8($0), from: pool) }
            withExtendedLifetime(held) { #expect(pool.statistics.inUse == 5) }
        }
        clock.advance(by: .seconds(10))
        pool.trim()
        clock.advance(by: .seconds(10))
        pool.trim()
        #expect(pool.statistics.free == 3)
        #expect(pool.statistics.allocated == 5)
    }

    @Test func `what lies unused for too long is let go of`() {
        let clock = VirtualMediaClock()
        let pool = PixelBufferPool(
            format: .i420, dimensions: dimensions,
            configuration: .init(aging: .init(maximumAge: .seconds(2), clock: clock)))
        var held = (0..<4).map { filled(UInt8($0), from: pool) }
        held.removeAll()
        // One picture at a time is used from here on.
        for _ in 0..<5 {
            _ = filled(9, from: pool)
            clock.advance(by: .seconds(1))
        }
        let statistics = pool.statistics
        #expect(statistics.agedOut == 3)
        #expect(statistics.free == 1 && statistics.inUse == 0)
        #expect(statistics.allocated == 4)
    }

    @Test func `a flush lets go of everything unused and of nothing else`() {
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions, configuration: .init(minimumCount: 4))
        let held = filled(7, from: pool)
        pool.flush()
        #expect(pool.statistics.free == 0 && pool.statistics.inUse == 1)
        #expect(isFilled(held, with: 7))
        _ = filled(1, from: pool)
        #expect(pool.allocationCount == 5)
    }

    @Test(arguments: [1, 16, 32, 256]) func `rows are aligned as asked for`(alignment: Int) {
        let pool = PixelBufferPool(
            format: .i420, dimensions: VideoDimensions(width: 37, height: 5),
            configuration: .init(rowAlignment: alignment))
        let picture = filled(1, from: pool)
        #expect(PixelBufferAttributes(rowAlignment: alignment).isSatisfied(by: picture))
        picture.withPlane(1) { _, stride in #expect(stride == (19 + alignment - 1) / alignment * alignment) }
    }
}
