import MediaCore
import Synchronization
import VideoCoding

extension SampleBufferPlayer {
    /// Asks for samples and decodes them until enough pictures wait. Runs in the clock's context, one call at a time.
    func decodeAhead() {
        while true {
            let now = timebase.time
            switch queue.withLock({ $0.nextDecodingStep(now: now) }) {
            case .ask(let request):
                request()
            case .decode(let sample, let generation):
                decoder.withLock { decoder in
                    decoder.decode(sample, generation: generation) { results in
                        queue.withLock { $0.take(results, generation: generation) }
                    }
                }
                wakePresenter()
            case .finish(let generation):
                decoder.withLock { decoder in
                    decoder.finish(generation: generation) { results in
                        queue.withLock { $0.take(results, generation: generation, isLast: true) }
                    }
                }
                wakePresenter()
            case .sleep:
                return
            }
        }
    }

    /// Shows the due picture, and schedules the next one. It runs in the clock's context.
    func present() {
        presentation.withLock { _ in
            while true {
                let (now, isBackward) = (timebase.time, timebase.effectiveRate < 0)
                switch queue.withLock({ $0.nextPresentationStep(now: now, isRunningBackward: isBackward) }) {
                case .tell(let event):
                    eventHandler(event)
                    wakeDecoder()
                case .wait(let time):
                    // The timebase may have gone on, or have been set, since it was read; or run backward, and then
                    // there is nothing to wait for but a change, which the timer does.
                    if present(at: time) { return }
                case .sleep:
                    stopPresenting()
                    // Pictures may have been dropped on the way to the one that a seek asked for.
                    wakeDecoder()
                    return
                }
            }
        }
    }
}
