import Foundation
import Testing

@testable import RelayServer

@Test("a limit of address space that its threads do not fit into keeps the relay from starting")
func addressSpace() throws {
    try AddressSpaceLimit.check(AddressSpaceLimit.current, workers: 2)
    try AddressSpaceLimit.check(1792 << 20, workers: 2)
    #expect(throws: StartupError.tooLittleAddressSpace(limit: 1791 << 20, needed: 1792 << 20)) {
        try AddressSpaceLimit.check(1791 << 20, workers: 2)
    }
}

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
