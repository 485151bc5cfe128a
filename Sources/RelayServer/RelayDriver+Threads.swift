import Dispatch
import RoomMedia

/// The threads of recordings, streams, outputs and players, which have something left to do when the relay ends.
extension RelayDriver {
    /// For a slow disk.
    private static let recordingPatience = DispatchTimeInterval.seconds(5)
    /// Somewhat longer than the threads wait for their servers.
    private static let outputPatience = DispatchTimeInterval.milliseconds(2500)
    /// They wait for nobody, except that a player's reader may wait for a server.
    private static let otherPatience = DispatchTimeInterval.milliseconds(500)

    /// Waits for all threads at the same time, so that one that hangs does not hold up the others: they call on the
    /// loop, which ends next.
    func waitForThreads() async {
        let writers = self.recordings?.takeEnding() ?? []
        let outputs = self.outputs?.takeEnding() ?? []
        let streams = self.streams?.takeEnding() ?? []
        let players = self.players?.endAll() ?? []
        await withTaskGroup(of: Void.self) { group in
            for writer in writers {
                group.addTask { await writer.waitUntilFinished(timeout: Self.recordingPatience) }
            }
            for output in outputs { group.addTask { await output.waitUntilFinished(timeout: Self.outputPatience) } }
            for stream in streams { group.addTask { await stream.waitUntilFinished(timeout: Self.otherPatience) } }
            for player in players { group.addTask { await player.waitUntilFinished(timeout: Self.otherPatience) } }
        }
    }
}
