import ChuteSystem
import DropFolder
import Testing

struct StatusReportTests {
    @Test func `the JSON has the fields of schema 1`() {
        var report = StatusReport(device: .init(id: "ID", name: "lap\"top"), running: true)
        report.peers = [
            .init(
                id: "P", name: "pi", role: "member", connected: true, transport: "tcp",
                address: "10.0.0.2:4040", lastSeen: Timestamp(seconds: 1_700_000_000))
        ]
        report.transports = [
            TransportStatus(name: .bucket, state: .notBuilt, detail: "")
        ]
        var folder = StatusReport.FolderState(
            collection: "pics", inbox: "/in", outbox: nil, state: "running")
        folder.shared = 3
        folder.peers = [.init(id: "P")]
        folder.skipped = [
            .init(path: BytePath(bytes: [0x61, 0xFF]), reason: "hidden", detail: ""),
            .init(path: "é\n", reason: "empty"),
        ]
        folder.skippedTotal = ["hidden": 1, "empty": 1]
        report.folders = [folder]
        report.transfers = [
            .init(
                id: "T", name: "a.jpg", peer: "pi", direction: .incoming, done: 1, total: .max)
        ]
        #expect(
            report.json.text == """
                {
                  "schema": 1,
                  "device": {
                    "id": "ID",
                    "name": "lap\\"top"
                  },
                  "running": true,
                  "space": null,
                  "peers": [
                    {
                      "id": "P",
                      "name": "pi",
                      "role": "member",
                      "connected": true,
                      "transport": "tcp",
                      "address": "10.0.0.2:4040",
                      "lastSeen": "2023-11-14T22:13:20Z"
                    }
                  ],
                  "transports": [
                    {
                      "name": "bucket",
                      "state": "not-built",
                      "detail": ""
                    }
                  ],
                  "folders": [
                    {
                      "collection": "pics",
                      "inbox": "/in",
                      "outbox": null,
                      "state": "running",
                      "shared": 3,
                      "delivered": 0,
                      "pending": 0,
                      "peers": [
                        {
                          "id": "P",
                          "delivered": 0,
                          "pending": 0,
                          "refused": 0,
                          "notWanted": 0,
                          "removed": 0,
                          "bytesPending": 0
                        }
                      ],
                      "skipped": [
                        {
                          "path": "a\\\\xff",
                          "pathBytes": "Yf8=",
                          "reason": "hidden",
                          "detail": ""
                        },
                        {
                          "path": "é\\n",
                          "pathBytes": null,
                          "reason": "empty",
                          "detail": ""
                        }
                      ],
                      "skippedTotal": {
                        "empty": 1,
                        "hidden": 1
                      }
                    }
                  ],
                  "transfers": [
                    {
                      "id": "T",
                      "name": "a.jpg",
                      "peer": "pi",
                      "direction": "incoming",
                      "done": 1,
                      "total": 9223372036854775807
                    }
                  ]
                }
                """)
    }

    @Test func `at most 100 skipped names are listed`() {
        var folder = StatusReport.FolderState(collection: "pics", state: "running")
        folder.skipped = (0..<150).map { .init(path: BytePath("f\($0)"), reason: "hidden") }
        var report = StatusReport(device: .init(id: "", name: ""), running: false)
        report.folders = [folder]
        #expect(report.json.text.split(separator: "\"pathBytes\"").count == 101)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"), (-1, "1969-12-31T23:59:59Z"),
            (Int64.max, "9999-12-31T23:59:59Z"), (Int64.min, "0000-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func `a moment is written as RFC 3339`(seconds: Int64, text: String) {
        #expect(Timestamp(seconds: seconds).description == text)
    }
}
