import ChuteSystem
import Glibc

// Dispatch tells syslog for each of its threads that a user other than root may not raise their
// priority: nobody can do anything about that. It must be set before the first thread starts.
setenv("LIBDISPATCH_LOG", "NO", 0)
keepHeapSmall()
// Dispatch's own pool, which is Swift's, wakes a process every second for as long as it lives.
exit(await withTaskExecutorPreference(WorkerPool.shared) { await Program.run() }.rawValue)
