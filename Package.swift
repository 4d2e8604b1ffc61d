// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "chute",
    products: [
        .library(name: "ChuteKit", targets: ["ChuteKit"]),
        .executable(name: "chute", targets: ["chute"]),
    ],
    targets: [
        // C: one system library per dependency; `CLinux` and `CTOML` are shims of our own.
        .target(name: "CLinux"),
        .target(name: "CTOML", cxxSettings: [.define("TOML_HEADER_ONLY", to: "1")]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CMagic", pkgConfig: "libmagic"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CCBOR", pkgConfig: "libcbor"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode"),
        .systemLibrary(name: "CAvahi"),  // its pkg-config flags are refused with a warning
        .systemLibrary(name: "CWebSockets", pkgConfig: "libwebsockets"),
        .systemLibrary(name: "CMiniUPnP", pkgConfig: "miniupnpc"),
        .systemLibrary(name: "CNATPMP"),

        .target(
            name: "ChuteSystem",
            dependencies: [
                "CLinux", "CTOML", "CSQLite", "CMagic", "COpenSSL", "CCBOR", "CSystemd",
                "CQREncode", "CAvahi", "CWebSockets", "CMiniUPnP", "CNATPMP",
            ],
            swiftSettings: strict),
        .target(
            name: "ChuteKit", dependencies: ["ChuteSystem"],
            exclude: ["Documentation.docc", "PublicAPI.txt"],
            swiftSettings: strict),
        .target(
            name: "DropFolder", dependencies: ["ChuteKit", "ChuteSystem"],
            resources: [.embedInCode("../../config/chute.toml")], swiftSettings: strict),
        .executableTarget(
            name: "chute", dependencies: ["DropFolder", "ChuteKit", "ChuteSystem"],
            path: "Sources/ChuteCommand", swiftSettings: strict),

        // Programs on the library, as an application's developer would write them.
        .target(
            name: "ExampleTerminal", path: "Examples/ExampleTerminal", swiftSettings: strict),
        .executableTarget(
            name: "PicsCLI", dependencies: ["ChuteKit", "ExampleTerminal"],
            path: "Examples/PicsCLI", swiftSettings: strict),
        .executableTarget(
            name: "ChatCLI", dependencies: ["ChuteKit", "ExampleTerminal"],
            path: "Examples/ChatCLI", swiftSettings: strict),

        .executableTarget(
            name: "StoreBenchmark", dependencies: ["ChuteKit", "CSQLite"],
            path: "Benchmarks/StoreBenchmark", swiftSettings: strict),

        .target(
            name: "TestSupport", dependencies: ["ChuteKit", "ChuteSystem"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "ChuteSystemTests", dependencies: ["ChuteSystem", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ChuteKitTests", dependencies: ["ChuteKit", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DropFolderTests", dependencies: ["DropFolder", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "ChuteKit", "ChuteSystem", "DropFolder", "TestSupport", "chute", "PicsCLI",
                "ChatCLI",
            ],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
