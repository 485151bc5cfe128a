import MediaCore
import Testing

@testable import EncoderSharing

/// The members of an encode group, and the receivers of its frames.
@Suite struct GroupSubscribersTests {
    private let ada = ParticipantID(rawValue: 1)

    @Test("a receiver waits for a keyframe of the group that it joins, and is sent its frames from there on")
    func joins() {
        var group = GroupSubscribers()
        group.join(ada)
        #expect(group[ada] == .pending && group.contains(ada) && !group.isSent(ada))
        group.activate(ada)
        #expect(group[ada] == .active && group.isSent(ada))
    }

    @Test("a receiver that moves to another group is sent the first group's frames until the other's keyframe comes")
    func moves() {
        var (first, second) = (GroupSubscribers(), GroupSubscribers())
        first.join(ada)
        first.activate(ada)
        first.leave(ada)
        second.join(ada)
        #expect(first[ada] == .leaving && !first.contains(ada) && first.hasLeaving)
        #expect(first.memberCount == 0 && first.receivers == [ada])
        // It comes back before that keyframe: nothing has changed for it.
        second.leave(ada)
        first.join(ada)
        #expect(second.isEmpty && first[ada] == .active)
    }

    @Test("a receiver whose link is full waits for the next keyframe, and is removed if it was leaving")
    func stops() {
        var group = GroupSubscribers()
        group.join(ada)
        group.activate(ada)
        group.stop(ada)
        #expect(group[ada] == .pending)
        group.activate(ada)
        group.leave(ada)
        group.stop(ada)
        #expect(group.isEmpty)
    }

    @Test("a receiver that waits and leaves is removed at once")
    func leavesPending() {
        var group = GroupSubscribers()
        group.join(ada)
        group.leave(ada)
        #expect(group.isEmpty)
    }
}
