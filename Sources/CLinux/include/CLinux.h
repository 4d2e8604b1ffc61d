// What Swift's Glibc module does not offer, declared without _GNU_SOURCE (with it, this header
// would clash with Glibc over fd_set). The .c file has _GNU_SOURCE and the real headers.
#pragma once
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

struct chute_file_status {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    uint64_t blocks;  // of 512 bytes
    int64_t modified_seconds, changed_seconds, born_seconds;
    uint32_t modified_nanoseconds, changed_nanoseconds, born_nanoseconds;
    uint32_t mode, links, owner, group;
    uint64_t mount;
    int has_birth_time;
};

// Each returns 0 or a descriptor or a count, else -1 with errno set.
int chute_statx(int directory, const char *path, int follow, struct chute_file_status *out);
int chute_fstatx(int descriptor, struct chute_file_status *out);
int chute_openat2_beneath(int directory, const char *path, int flags, uint32_t mode);
int chute_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags);
extern const unsigned chute_RENAME_NOREPLACE, chute_RENAME_EXCHANGE;
int chute_link_descriptor(int descriptor, int directory, const char *name);
int chute_open_temporary(int directory, uint32_t mode);
int chute_clone_file(int to, int from);
ssize_t chute_copy_file_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t count);
int chute_syncfs(int descriptor);
int chute_start_writeback(int descriptor, int64_t offset, int64_t count);
int chute_set_direct(int descriptor, int on);             // O_DIRECT
int64_t chute_descriptor_limit(int raise);                // RLIMIT_NOFILE, soft, raised to hard
int chute_allocate(int descriptor, int64_t offset, int64_t count);
int chute_file_system_type(int descriptor, uint64_t *type, uint64_t *id);
int chute_read_lease(int descriptor, int take);
int chute_eventfd(void);
extern const uint32_t chute_EPOLLIN, chute_EPOLLOUT, chute_EPOLL_ENDED; // the last: HUP, ERR, RDHUP
int chute_epoll(void);
int chute_epoll_add(int epoll, int descriptor, uint64_t token);          // watched once armed
int chute_epoll_arm(int epoll, int descriptor, uint32_t events, uint64_t token); // for one event
int chute_epoll_remove(int epoll, int descriptor);
int chute_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity);
int chute_boot_timer(void);                                // timerfd on CLOCK_BOOTTIME
int chute_set_boot_timer(int timer, int64_t nanoseconds);  // at that moment; 0: never
int chute_name_thread(const char *name);                   // the calling one, 15 bytes
int chute_accept(int listener);
int chute_datagram_socket(int family);                    // UDP
int chute_network_monitor(void);                          // netlink: links, IPv4 and IPv6 addresses
int chute_pidfd_open(int process);
ssize_t chute_getrandom(void *buffer, size_t count);
ssize_t chute_getdents(int descriptor, void *buffer, size_t count);
int chute_set_process_name(const char *name);
int chute_lock_whole_file(int descriptor);                // F_OFD_SETLK, write lock, EAGAIN when held
int chute_unlock_whole_file(int descriptor);              // F_OFD_SETLK, F_UNLCK
int chute_whole_file_is_locked(int descriptor);           // F_OFD_GETLK: 1 held by another, 0 free
int chute_write_standard_error(const void *bytes, size_t count);
int64_t chute_seek_data(int descriptor, int64_t offset);
int64_t chute_seek_hole(int descriptor, int64_t offset);
int chute_inherit_access(int file, int folder);           // the folder's default ACL
int chute_copy_attributes(int to, int from);              // fchown, fsetxattr; what cannot be is left out
int chute_duplicate_onto(int from, int to);               // dup3, O_CLOEXEC
// The process's own environment; `environ` is a mutable global, which Swift 6 refuses.
char **chute_environment(void);
int chute_memory_file(void);                              // memfd_create, closed on exec
int chute_bounded_memory_file(int64_t size);               // full of zeros; EPERM for more
void chute_keep_heap_small(void);                         // mallopt

// What a program that is not trusted with this machine may use; 0: as this process.
struct chute_limits {
    uint64_t processor_seconds;
    uint64_t address_space;  // bytes
    uint64_t file_size;      // bytes of each file that it writes
    uint64_t descriptors;
};
// Starts the program at `path` with those three descriptors and no others, as the leader of a
// process group; its id, else -1 with errno set. Nothing of it outlives the calling thread.
pid_t chute_start_limited(const char *path, char *const arguments[], char *const environment[],
    int input, int output, int error, const struct chute_limits *limits);
// Waits for a child, at most `milliseconds` (-1: without end) and until `cancel` can be read; 1
// ended (not reaped), 0 time is up, 2 cancelled.
int chute_await_end(int pidfd, int cancel, int milliseconds);
// Kills a child that is not reaped, ended or not, and all that it started.
void chute_end_group(pid_t child);
// Reaps a child: its wait status, and processor time in microseconds.
int chute_reap(pid_t child, int *status, int64_t *microseconds);
