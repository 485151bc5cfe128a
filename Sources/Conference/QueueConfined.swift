/// Carries a reference type that is not `Sendable` into the jobs of one queue.
///
/// `@unchecked Sendable` holds because the value is made on the room's loop before the first job and is afterwards
/// touched only inside jobs of one queue, which run one at a time.
struct QueueConfined<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
