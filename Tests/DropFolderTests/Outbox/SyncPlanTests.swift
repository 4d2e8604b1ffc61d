import DropFolder
import Testing

@Suite struct SyncPlanTests {
    private let many = SyncPlan.Group(
        count: 200, hasRewrite: false, syncsWhole: true, hasBigFile: false)

    @Test func `many files on a file system made for it are synced at once`() {
        var plan = SyncPlan()
        #expect(plan.method(for: many) == .wholeFileSystem)
    }

    @Test func `few, rewritten and big files and other file systems go file by file`() {
        var groups = Array(repeating: many, count: 4)
        groups[0].count = 3
        groups[1].hasRewrite = true
        groups[2].hasBigFile = true
        groups[3].syncsWhole = false
        var plan = SyncPlan()
        for group in groups { #expect(plan.method(for: group) == .perFile) }
    }

    @Test func `a slow whole sync is left alone for a while and then tried again`() {
        var plan = SyncPlan()
        plan.wholeFileSystemSynced(0, in: .milliseconds(51))
        for _ in 0..<SyncPlan.pause { #expect(plan.method(for: many) == .perFile) }
        #expect(plan.method(for: many) == .wholeFileSystem)
        plan.wholeFileSystemSynced(0, in: .milliseconds(50))
        #expect(plan.method(for: many) == .wholeFileSystem)
    }

    @Test func `a whole sync may take what the bytes of its own group take`() {
        var plan = SyncPlan()
        plan.wholeFileSystemSynced(20_000_000, in: .milliseconds(250))
        #expect(plan.method(for: many) == .wholeFileSystem)
        plan.wholeFileSystemSynced(20_000_000, in: .milliseconds(251))
        #expect(plan.method(for: many) == .perFile)
    }

    @Test func `rewrites and big files share no group`() {
        #expect(SyncPlan.mayShareGroup(size: 16 << 20, isRewrite: false))
        #expect(!SyncPlan.mayShareGroup(size: 16 << 20 + 1, isRewrite: false))
        #expect(!SyncPlan.mayShareGroup(size: 1, isRewrite: true))
    }
}
