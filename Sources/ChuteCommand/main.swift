import ChuteSystem
import Glibc

// Dispatch tells syslog for each of its threads that a user other than root may not raise their
// priority: nobody can do anything about that. It must be set before the first thread starts.
setenv("LIBDISPATCH_LOG", "NO", 0)
keepHeapSmall()
exit(await Program.run().rawValue)
