// swift-tools-version: 6.2
import PackageDescription

/// Settings every Swift target shares: the Swift 6 language mode and the upcoming features we write against.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings of tests that start no programs: to optimise their own code takes three times as long as to compile it. The
/// modules that they test are optimised as in programs.
let testSettings = swiftSettings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// A library target, its test target and the product that exports it.
struct Module {
    var name: String
    var dependencies: [Target.Dependency]
    var testDependencies: [Target.Dependency] = []
    var linkerSettings: [LinkerSetting] = []
    var exclude: [String] = []
    var plugins: [Target.PluginUsage] = []
    /// Folders of the tests that they read by path.
    var testFixtures: [String] = []

    var targets: [Target] {
        [
            .target(
                name: name, dependencies: dependencies, exclude: exclude, swiftSettings: swiftSettings,
                linkerSettings: linkerSettings, plugins: plugins),
            .testTarget(
                name: "\(name)Tests",
                dependencies: [.target(name: name)] + dependencies + testDependencies, exclude: testFixtures,
                swiftSettings: testSettings),
        ]
    }
}

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let orderedCollections = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")
let dequeModule = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let modules: [Module] = [
    Module(name: "MediaCore", dependencies: [nioCore]),
    Module(name: "H264", dependencies: ["MediaCore", nioCore]),
    Module(name: "RTP", dependencies: ["MediaCore", nioCore]),
    Module(
        name: "CongestionControl", dependencies: ["MediaCore", "RTP", nioCore],
        testDependencies: ["ResearchControllers"]),
    // Links, queues and losses as the simulator, the clients and the relay's `--emulate-downlink` have them.
    Module(name: "LinkEmulation", dependencies: ["MediaCore", "RTP"]),
    // Controllers to compare with. The relay does not link them.
    Module(
        name: "ResearchControllers", dependencies: ["MediaCore", "RTP", "CongestionControl", "LinkEmulation"]),
    Module(
        name: "FlightRecording", dependencies: ["MediaCore", "RTP", "CongestionControl"],
        testDependencies: ["LinkEmulation", "Simulation", "ResearchControllers", "AllocationCounter"]),
    Module(
        name: "FlightFiles", dependencies: ["FlightRecording", "MediaCore"], testDependencies: ["CongestionControl"]),
    Module(
        name: "VideoCoding",
        dependencies: [
            "MediaCore", "H264", "PixelTransfer", nioCore, dequeModule, "CLibAVCodec", "COpenH264",
            .target(name: "CX264", condition: .when(traits: ["X264"])),
            .target(name: "CLibVA", condition: .when(traits: ["VAAPI"])),
        ],
        testDependencies: ["RTP", "H264Fixtures", "ScriptedDriver"]),
    Module(name: "PixelTransfer", dependencies: ["MediaCore", "CLibYUV"], testDependencies: ["AllocationCounter"]),
    Module(
        name: "Compositing", dependencies: ["MediaCore", "PixelTransfer", "CPangoCairo"],
        testDependencies: ["AllocationCounter", "MediaFixtures"], testFixtures: ["Golden"]),
    Module(name: "AudioMixing", dependencies: ["MediaCore", "COpus", nioCore]),
    Module(
        name: "SecureTransport", dependencies: ["MediaCore", "CSRTP", "COpenSSL", nioCore],
        testDependencies: ["CDTLSClock", "HostileBytes", "OpenSSLClient"]),
    // Session descriptions, offers and answers.
    Module(
        name: "SDP", dependencies: ["MediaCore", "SecureTransport"], testDependencies: ["HostileBytes", nioCore],
        testFixtures: ["Fixtures"]),
    // Movies, Y4M and WAV files, and the player of coded pictures.
    Module(
        name: "MediaFiles",
        dependencies: [
            "MediaCore", "H264", "PixelTransfer", "VideoCoding", nioCore, "CLibAVFormat", "CEBUR128",
        ],
        testDependencies: ["H264Fixtures"]),
    Module(
        name: "PeerConnection",
        dependencies: [
            "MediaCore", "H264", "RTP", "CongestionControl", "VideoCoding", "SecureTransport", "SDP", nioCore,
        ],
        testDependencies: ["ResearchControllers", "MediaFixtures"]),
    // What both ends of the relay's HTTP interface say.
    Module(name: "RoomAPI", dependencies: ["MediaCore", "Compositing"]),
    // Who shares an encoder, at which size and rate: values and decisions, and no codec.
    Module(
        name: "EncoderSharing", dependencies: ["MediaCore", "CongestionControl", "VideoCoding", orderedCollections]),
    // What a machine takes, how many people fit on it, and what is given up where there is no time.
    Module(
        name: "LoadControl", dependencies: ["MediaCore", "VideoCoding", "Compositing", "AudioMixing", nioCore],
        testDependencies: ["ScriptedDriver"]),
    Module(
        name: "Conference",
        dependencies: [
            "MediaCore", "H264", "RTP", "CongestionControl", "EncoderSharing", "LoadControl", "FlightRecording",
            "VideoCoding", "Compositing",
            "AudioMixing", "SecureTransport", "SDP", "PeerConnection", "RoomAPI", nioCore, orderedCollections,
        ],
        testDependencies: [
            "Simulation", "LinkEmulation", "MediaFixtures", "CDTLSClock", "PixelTransfer", "ScriptedDriver",
        ]),
    // Which relay of several has which room.
    Module(name: "Cluster", dependencies: ["MediaCore", "SecureTransport"]),
    // Requests by HTTP, with libcurl.
    Module(
        name: "HTTPTransfer", dependencies: ["MediaCore", "CLibCURL"],
        testDependencies: ["LoopbackServer", "OpenSSLClient"]),
    Module(name: "VectorGraphics", dependencies: []),
    // The network, its flows, rooms and reports on virtual time: the relay and its connections are real.
    Module(
        name: "Simulation",
        dependencies: [
            "LinkEmulation", "ResearchControllers", "MediaCore", "H264", "RTP", "CongestionControl", "SecureTransport",
            "SDP", "VideoCoding", "Compositing", "PeerConnection", "RoomAPI", "EncoderSharing", "Conference",
            "VectorGraphics", nioCore,
            .product(name: "Yams", package: "Yams"),
        ]),
    // Recordings, live streams, outputs and players: files and connections of media, without the rooms themselves.
    Module(
        name: "RoomMedia",
        dependencies: [
            "MediaCore", "VideoCoding", "PixelTransfer", "Compositing", "AudioMixing", "SecureTransport",
            "PeerConnection", "MediaFiles", "FlightFiles", "RoomAPI", "HTTPTransfer", "CMalloc", "CLibSRT", nioCore,
            nioPosix, logging, dequeModule,
        ],
        testDependencies: ["RoomMediaFixtures", "LoopbackServer"]),
    Module(
        name: "RelayServer",
        dependencies: [
            "LinkEmulation", "MediaCore", "RTP", "SecureTransport", "SDP", "VideoCoding", "Compositing",
            "PeerConnection", "RoomAPI", "RoomMedia", "LoadControl", "Conference", "FlightRecording", "FlightFiles",
            "Cluster", "HTTPTransfer", "VectorGraphics", "CSocket", nioCore, nioPosix, logging, serviceLifecycle,
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            nioHTTP1,
            .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            dequeModule,
            .product(name: "HeapModule", package: "swift-collections"),
        ],
        testDependencies: [
            "Simulation", "AudioMixing", "RoomMediaFixtures", "OpenSSLClient", "LoopbackServer", "HostileBytes",
            "confrelay", "ChildProcesses", argumentParser, .product(name: "NIOEmbedded", package: "swift-nio"),
        ],
        exclude: ["Resources"], plugins: ["EmbedWebFiles"]),
    Module(
        name: "ConferenceClient",
        dependencies: [
            "LinkEmulation", "MediaCore", "H264", "RTP", "CongestionControl", "VideoCoding", "PixelTransfer",
            "Compositing", "AudioMixing", "SecureTransport", "SDP", "PeerConnection", "MediaFiles", "RoomAPI",
            "FlightRecording", "FlightFiles", "HTTPTransfer", nioCore, nioPosix,
        ], testDependencies: ["Simulation", "OpenSSLClient", "LoopbackServer"]),
]

let package = Package(
    name: "confrelay",
    products: modules.map { .library(name: $0.name, targets: [$0.name]) } + [
        .executable(name: "confrelay", targets: ["confrelay"]),
        .executable(name: "confclient", targets: ["confclient"]),
        .executable(name: "confsim", targets: ["confsim"]),
        // A driver that libva loads, for tests; nothing links it.
        .library(name: "confrelay_test_drv_video", type: .dynamic, targets: ["VADriver"]),
    ],
    traits: [
        .trait(name: "X264", description: "Build the x264 back end (GPL) beside OpenH264."),
        .trait(name: "VAAPI", description: "Build the VA-API back end, for encoders of GPUs; needs libva."),
        .default(enabledTraits: ["X264", "VAAPI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: modules.flatMap(\.targets) + [
        .executableTarget(
            name: "confrelay",
            dependencies: [
                "Cluster", "LinkEmulation", "RelayServer", "RoomMedia", "Compositing", "RoomAPI", "LoadControl",
                "Conference", "FlightRecording", "MediaCore", "MediaFiles", "CongestionControl", "SecureTransport",
                "VectorGraphics", "VideoCoding", logging, serviceLifecycle, unixSignals, argumentParser,
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "confclient",
            dependencies: [
                "LinkEmulation", "Compositing", "RoomAPI", "ConferenceClient", "FlightRecording", "MediaCore",
                "MediaFiles", "CongestionControl", "SecureTransport", "VideoCoding", nioPosix, argumentParser,
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "confsim",
            dependencies: [
                "LinkEmulation", "ResearchControllers", "Conference", "FlightRecording", "MediaCore", "MediaFiles",
                "CongestionControl", "Simulation", "ConferenceClient", "PixelTransfer", "VideoCoding", argumentParser,
            ],
            swiftSettings: swiftSettings),
        .plugin(name: "EmbedWebFiles", capability: .buildTool(), dependencies: ["webembed"]),
        .executableTarget(name: "webembed", swiftSettings: swiftSettings),
        .testTarget(
            name: "ConfsimTests",
            dependencies: [
                "confsim", "ConferenceClient", "CongestionControl", "FlightRecording", "LinkEmulation", "MediaCore",
                "ResearchControllers", "Simulation", argumentParser,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "confrelay", "confclient", "confsim", "ChildProcesses", "ConferenceClient", "FlightRecording",
                "LinkEmulation", "ResearchControllers", "MediaCore", "RTP", "CongestionControl", "SecureTransport",
                "SDP", "ScriptedDriver", "OpenSSLClient",
                nioCore,
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["Compositing", "H264", "MediaCore", "PixelTransfer", "VideoCoding", nioCore],
            swiftSettings: testSettings),
        // Runs confrelay and confclient, which are built beside it.
        .executableTarget(
            name: "confbench",
            dependencies: [
                "LinkEmulation", "ResearchControllers", "confrelay", "confclient", "AudioMixing", "Compositing",
                "Conference", "ConferenceClient", "H264", "MediaCore", "MediaFiles", "Simulation", "PixelTransfer",
                "RTP", "CongestionControl", "SecureTransport", "VideoCoding", nioCore, nioPosix, argumentParser,
                // The codecs bare, to hold the sessions against.
                "AllocationCounter", "CLibAVCodec", "CLibYUV", "COpenH264", "ChildProcesses",
            ],
            path: "Benchmarks/confbench", swiftSettings: swiftSettings),
        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
        // How benchmarks and tests start programs.
        .target(
            name: "ChildProcesses", dependencies: ["CSpawn"], path: "Benchmarks/ChildProcesses",
            swiftSettings: swiftSettings),
        .target(name: "CSpawn", path: "Benchmarks/CSpawn"),
        // libssl's clock in tests: the time that a connection is handed.
        .target(name: "CDTLSClock", path: "Tests/CDTLSClock"),
        // libva's interface in software. Empty without libva's headers.
        .target(
            name: "VADriver", dependencies: ["COpenH264", "CLibYUV"], path: "Tests/VADriver",
            linkerSettings: [
                .linkedLibrary("avcodec"), .linkedLibrary("avutil"), .linkedLibrary("openh264"), .linkedLibrary("yuv"),
            ]),
        // The driver as tests have it: with a script and a log.
        .target(name: "ScriptedDriver", path: "Tests/ScriptedDriver", swiftSettings: swiftSettings),
        // Changes bytes at random, for parsers' tests.
        .target(
            name: "HostileBytes", dependencies: ["MediaCore"], path: "Tests/HostileBytes",
            swiftSettings: swiftSettings),
        // OpenSSL as a client of HTTPS, and certificates, for tests of servers.
        .target(
            name: "OpenSSLClient", dependencies: ["COpenSSL", "SecureTransport", nioCore], path: "Tests/OpenSSLClient",
            swiftSettings: swiftSettings),
        // A server whose connections tests serve by hand.
        .target(
            name: "LoopbackServer", dependencies: ["COpenSSL", "OpenSSLClient"], path: "Tests/LoopbackServer",
            swiftSettings: swiftSettings),
        // H.264 written by hand, for decoders' and players' tests.
        .target(
            name: "H264Fixtures", dependencies: ["H264", "MediaCore"], path: "Tests/H264Fixtures",
            swiftSettings: swiftSettings),
        // Pictures and tones that test clients send, optimised: thousands are made.
        .target(
            name: "MediaFixtures", dependencies: ["MediaCore", "AudioMixing", nioCore], path: "Tests/MediaFixtures",
            swiftSettings: swiftSettings),
        // Samples of a composite, for tests of what takes them.
        .target(
            name: "RoomMediaFixtures", dependencies: ["MediaCore", "RoomAPI", nioCore], path: "Tests/RoomMediaFixtures",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ConfbenchTests",
            dependencies: [
                "confbench", "AllocationCounter", "Compositing", "ConferenceClient", "LinkEmulation", "MediaCore",
                "PixelTransfer", "SecureTransport", "Simulation", "VideoCoding",
            ],
            swiftSettings: swiftSettings),
        .systemLibrary(name: "CLibAVCodec", pkgConfig: "libavcodec", providers: [.apt(["libavcodec-dev"])]),
        .systemLibrary(
            name: "CLibAVFormat", pkgConfig: "libavformat",
            providers: [.apt(["libavformat-dev", "libswresample-dev", "libswscale-dev"])]),
        .systemLibrary(name: "CEBUR128", pkgConfig: "libebur128", providers: [.apt(["libebur128-dev"])]),
        .systemLibrary(name: "COpenH264", pkgConfig: "openh264", providers: [.apt(["libopenh264-dev"])]),
        .systemLibrary(name: "CX264", providers: [.apt(["libx264-dev"])]),
        .systemLibrary(name: "CLibVA", providers: [.apt(["libva-dev"])]),
        .systemLibrary(name: "CLibYUV", providers: [.apt(["libyuv-dev"])]),
        .systemLibrary(name: "CLibCURL", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPangoCairo", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),
        .systemLibrary(name: "CLibSRT", pkgConfig: "srt", providers: [.apt(["libsrt-gnutls-dev"])]),
        .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // How much of its heap the C library returns to the system.
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CSocket"),
        .systemLibrary(name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    ]
)
