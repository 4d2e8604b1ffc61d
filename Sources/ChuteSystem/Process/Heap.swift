import CLinux

/// Keeps the memory of an idle process small after a burst of work. Call it before the first
/// thread starts. Calls `mallopt`.
package func keepHeapSmall() { chute_keep_heap_small() }
