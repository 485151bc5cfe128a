import Testing

/// Has all tests of a suite use one browser, each with a window and a relay of its own: starting a browser takes longer
/// than most of them.
struct SharedBrowser: SuiteTrait, TestScoping {
    @TaskLocal static var current: Browser?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let browser = try await Browser(ChromeDriver(in: folder))
        let result: Result<Void, any Error>
        do {
            result = .success(try await Self.$current.withValue(browser) { try await function() })
        } catch {
            result = .failure(error)
        }
        await browser.close()
        withExtendedLifetime(folder) {}
        try result.get()
    }
}

extension Trait where Self == SharedBrowser {
    static var sharedBrowser: Self { Self() }
}
