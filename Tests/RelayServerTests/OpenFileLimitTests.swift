import Foundation
import Testing

@testable import RelayServer

@Suite("The limit of open files")
struct OpenFileLimitTests {
    @Test("leaves files beside all connections, or the relay does not start")
    func check() throws {
        try OpenFileLimit.check(896, allows: 512)
        #expect(throws: StartupError.tooFewOpenFiles(limit: 895, needed: 896)) {
            try OpenFileLimit.check(895, allows: 512)
        }
    }

    @Test("is raised as far as the user may, up to what the largest configuration needs")
    func raise() {
        let limit = OpenFileLimit.raise()
        var allowed = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &allowed)
        #expect(allowed.rlim_cur == rlim_t(limit))
        #expect(allowed.rlim_cur >= min(allowed.rlim_max, 65_536))
    }
}
