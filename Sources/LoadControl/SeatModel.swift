import MediaCore
public import VideoCoding

/// Estimates from the costs of each kind of work how many participants the machine has time for.
public struct SeatModel: Sendable, Hashable {
    public var calibration: Calibration
    /// The number of processors, or of threads if there are fewer.
    public var workers: Int
    /// Ticks a second.
    public var frameRate: Int
    public var preset: EncoderPreset
    /// Encoders that a room runs at most; nil for one for each receiver.
    public var maximumEncoders: Int?

    /// The share of the processors' time that jobs may take: the rest is for uneven load.
    static let usableShare = 0.85
    /// The share of a device's time that jobs may take.
    static let usableDeviceShare = 0.85
    /// The factor for work besides codecs: packets, their ciphers, the event loop.
    static let overhead = 1.15
    /// Frames a second that a camera sends.
    static let sourceFrameRate = 30.0
    package static let audioFrequency = 50.0
    /// The largest assumed number of simultaneous speakers: each of them hears a mix of its own, all others the same.
    static let speakers = 4
    /// The largest number that is counted.
    package static let most = 1000

    public init(
        calibration: Calibration, workers: Int, frameRate: Int, preset: EncoderPreset, maximumEncoders: Int?
    ) {
        self.calibration = calibration
        self.workers = max(1, workers)
        self.frameRate = max(1, frameRate)
        self.preset = preset
        self.maximumEncoders = maximumEncoders
    }

    package struct Work: Sendable, Hashable {
        /// The number of senders.
        package var sources = 0
        package var receivers = 0
        /// The number of different pictures at each tick.
        package var pictures = 0
        package var encoders = 0

        package init(sources: Int = 0, receivers: Int = 0, pictures: Int = 0, encoders: Int = 0) {
            self.sources = sources
            self.receivers = receivers
            self.pictures = pictures
            self.encoders = encoders
        }
    }

    /// The ways in which a room can be served, from the most to the least costly.
    public enum Serving: String, CaseIterable, Sendable, Codable {
        /// A picture and an encoder for each.
        case dedicated
        /// One picture for all, and as many encoders as are allowed.
        case groups
        /// One picture and one encoder for all.
        case sharedView = "shared-view"
        /// The same at the cheapest preset and half the frame rate: overload control's last resort.
        case cheapest
    }

    /// Returns the number of participants that fit, all sending and receiving, in one room.
    public func seats(_ serving: Serving) -> Int {
        let model = serving == .cheapest ? cheapest : self
        return model.largest { count in
            switch serving {
            case .dedicated: Work(sources: count, receivers: count, pictures: count, encoders: count)
            case .groups:
                Work(
                    sources: count, receivers: count, pictures: 1, encoders: min(count, maximumEncoders ?? count))
            case .sharedView, .cheapest: Work(sources: count, receivers: count, pictures: 1, encoders: 1)
            }
        }
    }

    /// Returns the number of participants that fit in addition to the existing rooms, with all measures active.
    ///
    /// - Parameters:
    ///   - rooms: The present rooms, with the smallest possible numbers of pictures and encoders.
    ///   - factor: The ratio of the work's actual cost to the cost measured at the start.
    package func seatsLeft(beside rooms: [Work], factor: Double) -> Int {
        let model = cheapest
        // All new participants share a room, with its picture and its possible mixes.
        var rooms = rooms.isEmpty ? [Work(pictures: 1, encoders: 1)] : rooms
        for index in rooms.indices { rooms[index].receivers = max(rooms[index].receivers, Self.speakers + 1) }
        let present = rooms.reduce(0) { $0 + model.cores(for: $1) } * factor
        let each = model.cores(for: Work(sources: 1)) * factor
        let left = model.capacity - present
        guard left > 0, each > 0 else { return 0 }
        return min(Self.most, Int(clamping: left / each), model.deviceSeatsLeft(beside: rooms))
    }

    /// The same by the device's time alone; the most if no device does the work of participants.
    private func deviceSeatsLeft(beside rooms: [Work]) -> Int {
        let left = Self.usableDeviceShare - rooms.reduce(0) { $0 + deviceShare(for: $1) }
        let each = deviceShare(for: Work(sources: 1))
        guard left > 0 else { return 0 }
        return each > 0 ? min(Self.most, Int(clamping: left / each)) : Self.most
    }

    /// The model with all measures in force.
    package var cheapest: SeatModel {
        var model = self
        model.preset = calibration.encode.min { $0.value < $1.value }?.key ?? preset
        model.frameRate = OverloadLevel.halfFrameRate.frameRate(of: frameRate) ?? frameRate
        return model
    }

    /// Processors that may be busy.
    package var capacity: Double { Double(workers) * Self.usableShare }

    /// Processors that a room keeps busy.
    package func cores(for work: Work) -> Double {
        let ticks = Double(frameRate)
        var seconds = Double(work.sources) * Self.sourceFrameRate * calibration.decodeCost
        seconds += ticks * calibration.composition(sources: work.sources, pictures: work.pictures)
        seconds += ticks * Double(work.encoders) * calibration.encodeCost(at: preset)
        let mixes = min(work.receivers, Self.speakers + 1)
        seconds += Self.audioFrequency * Double(work.sources) * calibration.audioDecode
        seconds += Self.audioFrequency * Double(mixes) * calibration.audioEncode
        return seconds * Self.overhead
    }

    /// The share of its time for which a room keeps the device busy.
    package func deviceShare(for work: Work) -> Double {
        let device = calibration.device
        let composition = device.compose?.seconds(sources: work.sources, pictures: Double(work.pictures)) ?? 0
        return Double(work.sources) * Self.sourceFrameRate * (device.decode ?? 0)
            + Double(frameRate) * (composition + Double(work.encoders) * (device.encode ?? 0))
    }

    private func fits(_ work: Work) -> Bool {
        cores(for: work) <= capacity && deviceShare(for: work) <= Self.usableDeviceShare
    }

    /// The largest number whose work fits.
    private func largest(_ work: (Int) -> Work) -> Int {
        var (low, high) = (0, Self.most)
        while low < high {
            let middle = (low + high + 1) / 2
            if fits(work(middle)) { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
