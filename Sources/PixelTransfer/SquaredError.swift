import Glibc

/// The sums of squared differences between pictures, plane by plane.
public struct SquaredError: Hashable, Sendable {
    /// One plane's sum, and its number of samples.
    public struct Plane: Hashable, Sendable {
        public var sum: UInt64
        public var count: UInt64

        public init(sum: UInt64 = 0, count: UInt64 = 0) {
            self.sum = sum
            self.count = count
        }

        /// The ratio of 255² to the mean squared difference, in dB; infinite if there is no difference.
        var psnr: Double {
            sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(count) / Double(sum))
        }

        static func + (left: Plane, right: Plane) -> Plane {
            Plane(sum: left.sum + right.sum, count: left.count + right.count)
        }
    }

    public var y: Plane
    public var u: Plane
    public var v: Plane

    public init(y: Plane = Plane(), u: Plane = Plane(), v: Plane = Plane()) {
        self.y = y
        self.u = u
        self.v = v
    }

    public static func + (left: SquaredError, right: SquaredError) -> SquaredError {
        SquaredError(y: left.y + right.y, u: left.u + right.u, v: left.v + right.v)
    }

    public static func += (left: inout SquaredError, right: SquaredError) { left = left + right }

    /// The peak signal-to-noise ratio of the mean error.
    public var psnr: PeakSignalToNoiseRatio {
        PeakSignalToNoiseRatio(y: y.psnr, u: u.psnr, v: v.psnr, average: (y + u + v).psnr)
    }
}

/// Peak signal-to-noise ratios in dB, infinite if there is no difference.
public struct PeakSignalToNoiseRatio: Hashable, Sendable {
    public var y: Double
    public var u: Double
    public var v: Double
    /// The ratio of all samples together, in which luma weighs four times as much as U or V: ffmpeg's `average`.
    public var average: Double
}
