import MediaCore

/// Groups packets by when they were sent and compares how far apart two groups were sent and received
/// (libwebrtc's `InterArrivalDelta`; draft-ietf-rmcat-gcc-02, section 5.2).
///
/// Packets sent within 5 ms are one group, and so are packets that arrived in one burst although they were sent
/// apart: a link that wakes up now and then delays the first of a burst, not the others.
struct InterArrival: Sendable {
    /// The difference of two neighbouring groups.
    struct Delta: Hashable, Sendable {
        var sendInterval: Duration
        var receiveInterval: Duration
        var size: DataSize
    }

    static let groupLength = Duration.milliseconds(5)
    static let burstReceiveInterval = Duration.milliseconds(5)
    static let maximumBurstDuration = Duration.milliseconds(100)
    /// If arrival times run ahead of ours by this much, the receiver's clock jumped.
    static let clockJump = Duration.seconds(3)
    static let maximumReorderedGroups = 3

    fileprivate struct Group {
        var firstSend: MonotonicInstant
        var lastSend: MonotonicInstant
        var firstReceive: MonotonicInstant
        var lastReceive: MonotonicInstant
        var lastFeedback: MonotonicInstant
        var size: DataSize
    }

    private var current: Group?
    private var previous: Group?
    private var reorderedGroups = 0

    /// Takes the next packet by arrival; returns the difference of the last two groups when the packet starts a new
    /// one.
    mutating func add(
        sendTime: MonotonicInstant, receiveTime: MonotonicInstant, size: DataSize, now: MonotonicInstant
    ) -> Delta? {
        guard var group = current else {
            current = Group(at: sendTime, receiveTime, size, now)
            return nil
        }
        // A packet of an older group came late: it says nothing about the queue now.
        guard sendTime >= group.firstSend else { return nil }

        if !startsNewGroup(sendTime: sendTime, receiveTime: receiveTime, after: group) {
            group.lastSend = max(group.lastSend, sendTime)
            group.lastReceive = receiveTime
            group.lastFeedback = now
            group.size += size
            current = group
            return nil
        }
        var delta: Delta?
        if let previous {
            let receiveInterval = group.lastReceive - previous.lastReceive
            let feedbackInterval = group.lastFeedback - previous.lastFeedback
            if receiveInterval - feedbackInterval >= Self.clockJump {
                reset()
                return nil
            }
            if receiveInterval < .zero {
                reorderedGroups += 1
                if reorderedGroups >= Self.maximumReorderedGroups { reset() }
                return nil
            }
            reorderedGroups = 0
            delta = Delta(
                sendInterval: group.lastSend - previous.lastSend, receiveInterval: receiveInterval,
                size: group.size - previous.size)
        }
        previous = group
        current = Group(at: sendTime, receiveTime, size, now)
        return delta
    }

    mutating func reset() {
        self = InterArrival()
    }

    private func startsNewGroup(
        sendTime: MonotonicInstant, receiveTime: MonotonicInstant, after group: Group
    ) -> Bool {
        let sendInterval = sendTime - group.lastSend
        let receiveInterval = receiveTime - group.lastReceive
        let isBurst =
            sendInterval == .zero
            || (receiveInterval < sendInterval && receiveInterval <= Self.burstReceiveInterval
                && receiveTime - group.firstReceive < Self.maximumBurstDuration)
        return !isBurst && sendTime - group.firstSend > Self.groupLength
    }
}

extension InterArrival.Group {
    fileprivate init(
        at sendTime: MonotonicInstant, _ receiveTime: MonotonicInstant, _ size: DataSize, _ now: MonotonicInstant
    ) {
        self.init(
            firstSend: sendTime, lastSend: sendTime, firstReceive: receiveTime, lastReceive: receiveTime,
            lastFeedback: now, size: size)
    }
}
