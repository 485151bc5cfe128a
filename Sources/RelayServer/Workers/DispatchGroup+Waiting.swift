import Dispatch

extension DispatchGroup {
    /// Returns when everything in the group is done, or after so long.
    func waitUntilDone(timeout: DispatchTimeInterval) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                _ = self.wait(timeout: .now() + timeout)
                continuation.resume()
            }
        }
    }
}
