import Foundation
import MediaCore
import PixelTransfer
import Synchronization
import VideoCoding

/// Encodes a reel in one pass and in several, and measures the results.
struct PassesMeasurement {
    var reel: PictureReel
    var frameRate: Int
    var preset: EncoderPreset
    /// A folder for silos and storages.
    var directory: ScratchDirectory

    private var duration: Duration { .nanoseconds(Int64(reel.count) * 1_000_000_000 / Int64(frameRate)) }

    /// The three ways to encode at `rate`.
    func results(at rate: BitRate) throws -> [PassesResult] {
        let passes = try encodeInPasses(at: rate)
        let single = try encodeOnce(at: rate, target: rate, method: "single")
        // The rate at which a single pass comes out as large: two steps of a secant are near enough.
        var equal = single
        var asked = rate
        for _ in 0..<3 where abs(equal.kilobitsPerSecond / passes.kilobitsPerSecond - 1) > 0.003 {
            asked = asked * (passes.kilobitsPerSecond / equal.kilobitsPerSecond)
            equal = try encodeOnce(at: asked, target: rate, method: "single, same size")
        }
        equal.method = "single, same size"
        return [single, equal, passes]
    }

    private func properties(_ rate: BitRate) -> CompressionProperties {
        var properties = CompressionProperties(
            averageBitRate: rate, expectedFrameRate: Double(frameRate), profileLevel: H264ProfileLevel(.high))
        properties.realTime = false
        properties.rateControlMode = .average
        properties.allowFrameReordering = true
        properties.maxKeyframeIntervalDuration = .seconds(10)
        properties.preset = preset
        return properties
    }

    private func time(_ number: Int) -> MediaTime { MediaTime(value: Int64(number), timescale: Int32(frameRate)) }

    private func encodeOnce(at rate: BitRate, target: BitRate, method: String) throws -> PassesResult {
        let silo = try FrameSilo()
        let failures = FailureLog()
        let session = try CompressionSession(
            dimensions: reel.dimensions, backEnd: .x264, properties: properties(rate)
        ) { failures.record($0, in: silo) }
        let began = ThreadClock.now()
        var reading = Duration.zero
        for number in 0..<reel.count {
            let picture = try read(number, &reading)
            try session.encode(picture, presentationTime: time(number))
        }
        session.completeFrames()
        let spent = ThreadClock.now() - began - reading
        try failures.check()
        return try measure(silo, target: target, method: method, passes: 1, encoded: 0, spent: spent)
    }

    private func encodeInPasses(at rate: BitRate) throws -> PassesResult {
        let name = "\(rate.bitsPerSecond)"
        let silo = try FrameSilo(path: directory.path(of: "\(name).silo"))
        let storage = try MultiPassStorage(path: directory.path(of: "\(name).passes"))
        let failures = FailureLog()
        var wanted = properties(rate)
        wanted.multiPassStorage = storage
        let session = try CompressionSession(
            dimensions: reel.dimensions, backEnd: .x264, properties: wanted
        ) { failures.record($0, in: silo) }
        var (spent, encoded, passes) = (Duration.zero, 0, 0)
        while true {
            let ranges = session.timeRangesForNextPass
            try silo.setTimeRangesForNextPass(ranges)
            let began = ThreadClock.now()
            var reading = Duration.zero
            try session.beginPass()
            for number in 0..<reel.count where ranges.contains(where: { $0.contains(time(number)) }) {
                let picture = try read(number, &reading)
                try session.encode(picture, presentationTime: time(number))
            }
            let result = try session.endPass()
            spent += ThreadClock.now() - began - reading
            try failures.check()
            passes += 1
            if passes > 1 { encoded += result.framesEncoded }
            Progress.say(
                "pass \(result.pass): \(result.framesEncoded) of \(result.frameCount) frames, \(result.size) of "
                    + "\(result.targetSize)")
            guard result.furtherPassesRequested else { break }
        }
        let measured = try measure(
            silo, target: rate, method: "passes", passes: passes, encoded: encoded, spent: spent)
        try silo.remove()
        try storage.remove()
        return measured
    }

    private func read(_ number: Int, _ reading: inout Duration) throws -> PixelBuffer {
        let began = ThreadClock.now()
        defer { reading += ThreadClock.now() - began }
        return try reel.picture(number)
    }

    /// Decodes the silo's samples and compares them with the reel.
    private func measure(
        _ silo: FrameSilo, target: BitRate, method: String, passes: Int, encoded: Int, spent: Duration
    ) throws -> PassesResult {
        var (similarity, number) = (0.0, 0)
        var error = SquaredError()
        var failure: (any Error)?
        func take(_ event: DecodingEvent) {
            guard case .output(let output) = event, failure == nil else { return }
            do {
                guard let picture = output.picture, !picture.isConcealed, output.presentationTime == time(number) else {
                    throw BenchmarkError.codecFailed(reason: "frame \(number) does not decode")
                }
                let original = try reel.picture(number)
                similarity += try PictureQuality.ssim(picture.pixelBuffer, original)
                error += try PictureQuality.squaredError(picture.pixelBuffer, original)
                number += 1
            } catch let caught {
                failure = caught
            }
        }
        let pipeline = DecodingPipeline()
        try silo.forEachSample { pipeline.decode($0, take) }
        pipeline.finishDelayedFrames(take)
        if let failure { throw failure }
        guard number == reel.count else {
            throw BenchmarkError.codecFailed(reason: "\(number) of \(reel.count) frames were decoded")
        }
        return PassesResult(
            method: method, targetKilobitsPerSecond: target.kilobitsPerSecond,
            kilobitsPerSecond: BitRate(silo.size, over: duration).kilobitsPerSecond,
            structuralSimilarityDecibels: PictureQuality.decibels(ssim: similarity / Double(number)),
            peakSignalToNoiseRatio: error.psnr.y, passes: passes,
            shareEncodedAnew: Double(encoded) / Double(number), processorSeconds: spent.seconds)
    }
}

/// Puts frames into a silo, and keeps the first thing that went wrong.
private final class FailureLog: Sendable {
    private let first = Mutex<BenchmarkError?>(nil)

    func record(_ output: EncodeOutput, in silo: FrameSilo) {
        guard let frame = output.frame else { return set("frame \(output.presentationTime): \(output.result)") }
        do {
            try silo.add(frame.sample)
        } catch {
            set(error.description)
        }
    }

    private func set(_ reason: String) {
        first.withLock { $0 = $0 ?? .codecFailed(reason: reason) }
    }

    func check() throws {
        if let error = first.withLock({ $0 }) { throw error }
    }
}
