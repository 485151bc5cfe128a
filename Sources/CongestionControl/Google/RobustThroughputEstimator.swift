import MediaCore
internal import NIOCore

/// Estimates the rate of arrivals from the last second or so of packets (libwebrtc's `RobustThroughputEstimator`, its
/// default).
///
/// The window is the shortest that has 20 packets and a second of arrivals, and never more than 500 packets or 5 s. Its
/// largest gap between two arrivals counts as the second largest: a link that pauses once and then releases all waiting
/// packets carries as much as before. The rate at which the same packets were sent bounds the result, so that such a
/// burst does not count as capacity.
struct RobustThroughputEstimator: Sendable {
    static let windowPackets = 20
    static let maximumPackets = 500
    static let requiredPackets = 10
    static let minimumWindow = Duration.seconds(1)
    static let maximumWindow = Duration.seconds(5)
    /// A packet that arrived earlier than the newest by more than this means that the receiver's clock was set.
    static let maximumReordering = Duration.seconds(1)
    static let leastDuration = Duration.milliseconds(1)

    private struct Arrival: Sendable {
        var sendTime: MonotonicInstant
        var receiveTime: MonotonicInstant
        var size: DataSize
    }

    /// The packets in the order of arrival.
    private var window = CircularBuffer<Arrival>(initialCapacity: maximumPackets + 1)
    /// The sending time of the youngest packet that left the window: older ones in the window came late.
    private var lastDiscarded: MonotonicInstant?

    /// The estimate after the last `update()`; nil while there are fewer than ten packets.
    private(set) var rate: BitRate?

    /// Takes a packet that arrived.
    mutating func add(size: DataSize, sendTime: MonotonicInstant, receiveTime: MonotonicInstant) {
        window.append(Arrival(sendTime: sendTime, receiveTime: receiveTime, size: size))
        var index = window.count - 1
        while index > 0, window[offset: index].receiveTime < window[offset: index - 1].receiveTime {
            let later = window[offset: index - 1]
            window[offset: index - 1] = window[offset: index]
            window[offset: index] = later
            index -= 1
        }
        if window[offset: window.count - 1].receiveTime - receiveTime > Self.maximumReordering {
            window.removeAll(keepingCapacity: true)
            lastDiscarded = nil
        }
        // A report may bring more packets than a window holds.
        while window.count > Self.maximumPackets { discardFirst() }
    }

    /// Updates the estimate, after all packets of a report were added.
    mutating func update() {
        while isFirstOutside { discardFirst() }
        rate = window.count >= Self.requiredPackets ? estimate() : nil
    }

    private var isFirstOutside: Bool {
        guard let first = window.first, let last = window.last else { return false }
        let duration = last.receiveTime - first.receiveTime
        return duration > Self.maximumWindow
            || (window.count > Self.windowPackets && duration > Self.minimumWindow)
    }

    private mutating func discardFirst() {
        guard let first = window.popFirst() else { return }
        lastDiscarded = lastDiscarded.map { max($0, first.sendTime) } ?? first.sendTime
    }

    private func estimate() -> BitRate? {
        guard let first = window.first, let last = window.last else { return nil }
        var largestGap = Duration.zero
        var secondLargestGap = Duration.zero
        var previous = first.receiveTime
        var received = DataSize.zero
        var sent = DataSize.zero
        var sentCount = 0
        var firstSend = MonotonicInstant.distantFuture
        var lastSend: (time: MonotonicInstant, size: DataSize)?
        for arrival in window {
            let gap = arrival.receiveTime - previous
            previous = arrival.receiveTime
            if gap > largestGap {
                secondLargestGap = largestGap
                largestGap = gap
            } else if gap > secondLargestGap {
                secondLargestGap = gap
            }
            received += arrival.size
            // The send times of packets that came late would stretch the time of sending.
            if let lastDiscarded, arrival.sendTime < lastDiscarded { continue }
            if lastSend.map({ arrival.sendTime > $0.time }) ?? true { lastSend = (arrival.sendTime, arrival.size) }
            firstSend = min(firstSend, arrival.sendTime)
            sent += arrival.size
            sentCount += 1
        }
        // A duration lies between packets: the first to arrive took no part in it, nor did the last to be sent.
        let receiveDuration = last.receiveTime - first.receiveTime - largestGap + secondLargestGap
        let receiveRate = BitRate(received - first.size, over: max(receiveDuration, Self.leastDuration))
        guard sentCount >= Self.requiredPackets, let lastSend else { return receiveRate }
        let sendDuration = max(lastSend.time - firstSend, Self.leastDuration)
        return min(BitRate(sent - lastSend.size, over: sendDuration), receiveRate)
    }
}
