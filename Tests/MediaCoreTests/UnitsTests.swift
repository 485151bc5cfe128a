import MediaCore
import Testing

@Suite struct BitRateTests {
    @Test func `rates are made of bits, kilobits and megabits`() {
        #expect(BitRate.kilobits(64).bitsPerSecond == 64000)
        #expect(BitRate.megabits(2.5).bitsPerSecond == 2_500_000)
        #expect(BitRate(bitsPerSecond: Int64(1500)).kilobitsPerSecond == 1.5)
    }

    @Test func `a rate is never negative`() {
        #expect(BitRate(bitsPerSecond: Int64(-1)) == .zero)
        #expect(BitRate(bitsPerSecond: -1.0) == .zero)
        #expect(BitRate.kilobits(1) - .kilobits(2) == .zero)
        #expect(BitRate.kilobits(1) * -3 == .zero)
        var rate = BitRate.kilobits(1)
        rate.bitsPerSecond -= 2000
        #expect(rate == .zero)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e30, -1e30])
    func `a rate from any double is in range`(value: Double) {
        #expect(BitRate(bitsPerSecond: value).bitsPerSecond == (value > 0 ? .max : 0))
    }

    @Test func `a size over a time is a rate`() {
        #expect(BitRate(DataSize(bytes: 1500), over: .milliseconds(12)) == .megabits(1))
        #expect(BitRate(DataSize(bytes: 1500), over: .zero) == .zero)
        #expect(BitRate(DataSize(bytes: 1500), over: .seconds(-1)) == .zero)
    }

    @Test func `a rate over a time is a size`() {
        #expect(BitRate.megabits(1).dataSize(over: .milliseconds(12)) == DataSize(bytes: 1500))
        #expect(BitRate.megabits(1).dataSize(over: .seconds(-1)) == .zero)
        #expect(BitRate(bitsPerSecond: Int64.max).dataSize(over: .seconds(Int64.max)).bytes == .max)
    }

    @Test func `a rate needs time for a size`() {
        #expect(BitRate.megabits(1).duration(for: DataSize(bytes: 1500)) == .milliseconds(12))
        #expect(BitRate.zero.duration(for: DataSize(bytes: 1)) == .nanoseconds(Int64.max))
        #expect(BitRate(bitsPerSecond: Int64(1)).duration(for: DataSize(bytes: .max)) == .nanoseconds(Int64.max))
        #expect(BitRate.megabits(1).duration(for: .zero) == .zero)
        #expect(BitRate(bitsPerSecond: Int64(1)).duration(for: DataSize(bytes: .min)) == .zero)
    }

    @Test func `rates add without overflow, compare and clamp`() {
        let most = BitRate(bitsPerSecond: Int64.max)
        #expect(most + most == most)
        #expect(BitRate.kilobits(999) < .megabits(1))
        #expect(BitRate.megabits(5).clamped(to: .kilobits(100) ... .megabits(2)) == .megabits(2))
        #expect(BitRate.kilobits(5).clamped(to: .kilobits(100) ... .megabits(2)) == .kilobits(100))
        #expect(BitRate.kilobits(500) / .megabits(1) == 0.5)
    }

    @Test func `rates are written with their unit`() {
        #expect(BitRate.kilobits(512).description == "512.0 kbit/s")
        #expect(BitRate.megabits(2.5).description == "2.5 Mbit/s")
    }
}

@Suite struct DataSizeTests {
    @Test func `sizes add and subtract, and saturate`() {
        var size = DataSize(bytes: 1000)
        size += DataSize(bytes: 500)
        size -= DataSize(bytes: 200)
        #expect(size == DataSize(bytes: 1300))
        #expect(DataSize(bytes: .max) + DataSize(bytes: 1) == DataSize(bytes: .max))
        #expect(DataSize(bytes: .min) - DataSize(bytes: 1) == DataSize(bytes: .min))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e30, -5])
    func `a size from any double is in range`(value: Double) {
        #expect(DataSize(bytes: value).bytes == (value > 0 ? .max : 0))
    }

    @Test func `a size has bits, an order and a unit`() {
        #expect(DataSize(bytes: 3).bits == 24)
        #expect(DataSize(bytes: 2) < DataSize(bytes: 3))
        #expect(DataSize(bytes: 3).description == "3 B")
    }
}

@Suite struct ClampingTests {
    @Test(
        "a floating-point number of any size becomes an integer",
        arguments: [
            (Double.nan, 0), (.infinity, .max), (-.infinity, .min), (1e300, .max), (-1e300, .min),
            (0x1p63, .max), (-0x1p63, .min), (-0.9, 0), (2.9, 2), (-2.9, -2),
        ] as [(Double, Int64)])
    func integers(value: Double, expected: Int64) {
        #expect(Int64(clamping: value) == expected)
    }

    @Test("the ends of small and unsigned types hold a floating-point number")
    func narrowIntegers() {
        #expect(UInt8(clamping: 255.9) == 255)
        #expect(UInt8(clamping: 256.0) == 255)
        #expect(UInt8(clamping: -1.0) == 0)
        #expect(UInt64(clamping: 0x1p64) == .max)
        #expect(Int32(clamping: -3e9) == .min)
    }

    @Test(
        "any number of seconds is a duration",
        arguments: [
            (Double.nan, Duration.zero), (.infinity, .nanoseconds(Int64.max)), (-1e200, .nanoseconds(Int64.min)),
            (0.25, .milliseconds(250)), (-1.5, .milliseconds(-1500)), (9.3e9, .nanoseconds(Int64.max)),
        ] as [(Double, Duration)])
    func durations(seconds: Double, expected: Duration) {
        #expect(Duration.seconds(clamping: seconds) == expected)
    }
}
