package import MediaCore
import OrderedCollections

/// An encode group's receivers, and those that wait for its frames.
///
/// A receiver belongs to one group. Until that group's keyframe it may still get the frames of its earlier group.
package struct GroupSubscribers {
    package enum Subscription {
        /// Belongs to the group, and waits for its keyframe.
        case pending
        /// Belongs to the group, and is sent its frames.
        case active
        /// The receiver is sent the group's frames, but belongs to another group.
        case leaving
    }

    private var subscriptions: OrderedDictionary<ParticipantID, Subscription> = [:]

    package init() {}

    package subscript(id: ParticipantID) -> Subscription? { subscriptions[id] }

    package var isEmpty: Bool { subscriptions.isEmpty }
    package var ids: some Sequence<ParticipantID> { subscriptions.keys }
    /// The receivers that belong to the group.
    package var members: [ParticipantID] { subscriptions.elements.compactMap { $0.value == .leaving ? nil : $0.key } }
    /// The receivers that are sent its frames.
    package var receivers: [ParticipantID] { subscriptions.elements.compactMap { $0.value == .pending ? nil : $0.key } }
    /// The first receiver that belongs to the group, or else the first that gets its frames.
    package var first: ParticipantID? {
        subscriptions.elements.first { $0.value != .leaving }?.key ?? subscriptions.keys.first
    }
    /// The number of receivers that belong to the group.
    package var memberCount: Int { subscriptions.values.count { $0 != .leaving } }
    /// True if all belong to it and are sent its frames.
    package var areSettled: Bool { subscriptions.values.allSatisfy { $0 == .active } }
    /// True if receivers that belong to another group get its frames.
    package var hasLeaving: Bool { subscriptions.values.contains(.leaving) }

    /// Returns true if a receiver belongs to the group.
    package func contains(_ id: ParticipantID) -> Bool { subscriptions[id].map { $0 != .leaving } ?? false }
    /// Returns true if a receiver gets the group's frames.
    package func isSent(_ id: ParticipantID) -> Bool { subscriptions[id].map { $0 != .pending } ?? false }

    /// A receiver belongs to the group from now on.
    package mutating func join(_ id: ParticipantID) {
        switch subscriptions[id] {
        case nil: subscriptions[id] = .pending
        case .leaving: subscriptions[id] = .active
        case .pending, .active: break
        }
    }

    /// A receiver belongs to another group from now on, or to none.
    package mutating func leave(_ id: ParticipantID) {
        switch subscriptions[id] {
        case .pending: subscriptions[id] = nil
        case .active: subscriptions[id] = .leaving
        case .leaving, nil: break
        }
    }

    /// Sets the receivers that belong to the group. Returns the new ones.
    package mutating func setMembers(_ wanted: [ParticipantID]) -> [ParticipantID] {
        let kept = Set(wanted)
        for id in members where !kept.contains(id) { leave(id) }
        let joining = wanted.filter { !contains($0) }
        for id in joining { join(id) }
        return joining
    }

    /// A receiver is sent the group's frames from a keyframe on.
    package mutating func activate(_ id: ParticipantID) {
        if subscriptions[id] == .pending { subscriptions[id] = .active }
    }

    /// A receiver is sent no frame any more until the group's next keyframe.
    package mutating func stop(_ id: ParticipantID) {
        switch subscriptions[id] {
        case .active: subscriptions[id] = .pending
        case .leaving: subscriptions[id] = nil
        case .pending, nil: break
        }
    }

    package mutating func remove(_ id: ParticipantID) { subscriptions[id] = nil }
}
