// swift-tools-version: 6.2
import PackageDescription

/// Settings every Swift target shares: the Swift 6 language mode and the upcoming features we write against.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A library target, its test target and the product that exports it.
struct Module {
    var name: String
    var dependencies: [Target.Dependency]
    var testDependencies: [Target.Dependency] = []
    var linkerSettings: [LinkerSetting] = []

    var targets: [Target] {
        [
            .target(
                name: name, dependencies: dependencies, swiftSettings: swiftSettings, linkerSettings: linkerSettings),
            .testTarget(
                name: "\(name)Tests",
                dependencies: [.target(name: name)] + dependencies + testDependencies,
                swiftSettings: swiftSettings),
        ]
    }
}

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")

let modules: [Module] = [
    Module(name: "MediaCore", dependencies: [nioCore]),
    Module(name: "H264", dependencies: ["MediaCore", nioCore]),
    Module(name: "RTP", dependencies: ["MediaCore", nioCore]),
    Module(name: "RateControl", dependencies: ["MediaCore", "RTP", nioCore]),
    Module(
        name: "VideoCoding",
        dependencies: [
            "MediaCore", "H264", nioCore, "CLibAVCodec", "COpenH264",
            .target(name: "CX264", condition: .when(traits: ["X264"])),
        ]),
    Module(name: "Compositing", dependencies: ["MediaCore", "CLibYUV", "CPangoCairo"]),
    Module(name: "AudioMixing", dependencies: ["MediaCore", "COpus", nioCore]),
    Module(name: "SecureTransport", dependencies: ["MediaCore", "CSRTP", nioCore]),
    Module(name: "Recording", dependencies: ["MediaCore", "H264", nioCore, "CLibAVFormat"]),
    Module(
        name: "Conference",
        dependencies: [
            "MediaCore", "H264", "RTP", "RateControl", "VideoCoding", "Compositing", "AudioMixing",
            "SecureTransport", nioCore,
        ]),
    Module(
        name: "NetworkSimulation",
        dependencies: ["MediaCore", "H264", "RTP", "RateControl", nioCore]),
]

let package = Package(
    name: "confrelay",
    products: modules.map { .library(name: $0.name, targets: [$0.name]) },
    traits: [
        .trait(name: "X264", description: "Build the x264 back end (GPL) beside OpenH264."),
        .default(enabledTraits: ["X264"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: modules.flatMap(\.targets) + [
        .systemLibrary(name: "CLibAVCodec", pkgConfig: "libavcodec", providers: [.apt(["libavcodec-dev"])]),
        .systemLibrary(name: "CLibAVFormat", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev"])]),
        .systemLibrary(name: "COpenH264", pkgConfig: "openh264", providers: [.apt(["libopenh264-dev"])]),
        .systemLibrary(name: "CX264", providers: [.apt(["libx264-dev"])]),
        .systemLibrary(name: "CLibYUV", providers: [.apt(["libyuv-dev"])]),
        .systemLibrary(name: "CPangoCairo", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"])]),
        .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    ]
)
