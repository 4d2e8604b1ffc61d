#define _GNU_SOURCE
#include <sys/resource.h>
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <linux/stat.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

const unsigned chute_RENAME_NOREPLACE = RENAME_NOREPLACE;
const unsigned chute_RENAME_EXCHANGE = RENAME_EXCHANGE;

static int status_of(int directory, const char *path, int flags, struct chute_file_status *out) {
    struct statx s;
    memset(&s, 0, sizeof s);
    if (syscall(SYS_statx, directory, path, flags, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &s) < 0)
        return -1;
    *out = (struct chute_file_status){
        .device = ((uint64_t)s.stx_dev_major << 32) | s.stx_dev_minor,
        .inode = s.stx_ino, .size = s.stx_size, .blocks = s.stx_blocks,
        .modified_seconds = s.stx_mtime.tv_sec, .modified_nanoseconds = s.stx_mtime.tv_nsec,
        .changed_seconds = s.stx_ctime.tv_sec, .changed_nanoseconds = s.stx_ctime.tv_nsec,
        .born_seconds = s.stx_btime.tv_sec, .born_nanoseconds = s.stx_btime.tv_nsec,
        .mode = s.stx_mode, .links = s.stx_nlink, .owner = s.stx_uid, .group = s.stx_gid,
        .mount = s.stx_mnt_id, .has_birth_time = (s.stx_mask & STATX_BTIME) != 0,
    };
    return 0;
}

int chute_statx(int directory, const char *path, int follow, struct chute_file_status *out) {
    return status_of(directory, path, follow ? 0 : AT_SYMLINK_NOFOLLOW, out);
}
int chute_fstatx(int descriptor, struct chute_file_status *out) {
    return status_of(descriptor, "", AT_EMPTY_PATH, out);
}
int chute_openat2_beneath(int directory, const char *path, int flags, uint32_t mode) {
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC, .mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}
int chute_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
}
int chute_link_descriptor(int descriptor, int directory, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}
int chute_open_temporary(int directory, uint32_t mode) {
    return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}
int chute_clone_file(int to, int from) { return ioctl(to, FICLONE, from); }
ssize_t chute_copy_file_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t count) {
    loff_t f = from_offset, t = to_offset;
    return copy_file_range(from, &f, to, &t, count, 0);
}
int chute_syncfs(int descriptor) { return syncfs(descriptor); }
int chute_start_writeback(int descriptor, int64_t offset, int64_t count) {
    return sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}
int chute_set_direct(int descriptor, int on) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -1;
    return fcntl(descriptor, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
}
int64_t chute_descriptor_limit(int raise) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    if (raise && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    }
    return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}
int chute_allocate(int descriptor, int64_t offset, int64_t count) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count);
}
int chute_file_system_type(int descriptor, uint64_t *type, uint64_t *id) {
    struct statfs s;
    if (fstatfs(descriptor, &s) < 0) return -1;
    *type = (uint64_t)s.f_type;
    uint32_t halves[2];
    memcpy(halves, &s.f_fsid, sizeof halves);
    *id = ((uint64_t)halves[0] << 32) | halves[1];
    return 0;
}
int chute_read_lease(int descriptor, int take) { return fcntl(descriptor, F_SETLEASE, take ? F_RDLCK : F_UNLCK); }
int chute_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

const uint32_t chute_EPOLLIN = EPOLLIN, chute_EPOLLOUT = EPOLLOUT;
const uint32_t chute_EPOLL_ENDED = EPOLLHUP | EPOLLERR | EPOLLRDHUP;

static int epoll_change(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events | EPOLLONESHOT, .data.u64 = token};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int chute_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }
int chute_epoll_add(int epoll, int descriptor, uint64_t token) {
    return epoll_change(epoll, EPOLL_CTL_ADD, descriptor, 0, token);
}
int chute_epoll_arm(int epoll, int descriptor, uint32_t events, uint64_t token) {
    return epoll_change(epoll, EPOLL_CTL_MOD, descriptor, events, token);
}
int chute_epoll_remove(int epoll, int descriptor) {
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}
int chute_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity) {
    struct epoll_event found[64];
    int count = epoll_wait(epoll, found, capacity < 64 ? capacity : 64, -1);
    for (int i = 0; i < count; i++) {
        tokens[i] = found[i].data.u64;
        events[i] = found[i].events;
    }
    return count;
}
int chute_boot_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }
int chute_set_boot_timer(int timer, int64_t nanoseconds) {
    struct itimerspec moment = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &moment, NULL);
}
int chute_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
int chute_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
int chute_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }
ssize_t chute_getrandom(void *buffer, size_t count) { return getrandom(buffer, count, 0); }
ssize_t chute_getdents(int descriptor, void *buffer, size_t count) {
    return syscall(SYS_getdents64, descriptor, buffer, count);
}
int chute_set_process_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

static struct flock whole_file(void) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
}
int chute_lock_whole_file(int descriptor) {
    struct flock lock = whole_file();
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}
int chute_unlock_whole_file(int descriptor) {
    struct flock lock = whole_file();
    lock.l_type = F_UNLCK;
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}
int chute_whole_file_is_locked(int descriptor) {
    struct flock lock = whole_file();
    if (fcntl(descriptor, F_OFD_GETLK, &lock) < 0) return -1;
    return lock.l_type != F_UNLCK;
}
int chute_write_standard_error(const void *bytes, size_t count) { return (int)write(2, bytes, count); }
int64_t chute_seek_data(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_DATA); }
int64_t chute_seek_hole(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }

// The list that `open` would have given the file in that folder, but for the mode it was asked for:
// a `chmod` afterwards takes that away.
int chute_inherit_access(int file, int folder) {
    unsigned char list[4096];
    ssize_t size = fgetxattr(folder, "system.posix_acl_default", list, sizeof list);
    if (size < 0) return errno == ENODATA || errno == ENOTSUP ? 0 : -1;
    return fsetxattr(file, "system.posix_acl_access", list, (size_t)size, 0);
}

// Owner, group and extended attributes, as far as the file system and our rights allow. What
// cannot be set is left out: -1 with the last error then, and all others are set nevertheless.
int chute_copy_attributes(int to, int from) {
    struct stat s, t;
    if (fstat(from, &s) < 0 || fstat(to, &t) < 0) return -1;
    int failure = 0;
    if ((s.st_uid != t.st_uid || s.st_gid != t.st_gid) && fchown(to, s.st_uid, s.st_gid) < 0) failure = errno;
    char names[65536], value[65536];
    ssize_t length = flistxattr(from, names, sizeof names);
    if (length < 0 && errno != ENOTSUP) failure = errno;
    for (char *name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
        ssize_t size = fgetxattr(from, name, value, sizeof value);
        if (size < 0 || fsetxattr(to, name, value, (size_t)size, 0) < 0) failure = errno;
    }
    errno = failure;
    return failure ? -1 : 0;
}
int chute_duplicate_onto(int from, int to) { return dup3(from, to, O_CLOEXEC); }
char **chute_environment(void) { return environ; }
int chute_memory_file(void) { return memfd_create("chute", MFD_CLOEXEC); }
int chute_bounded_memory_file(int64_t size) {
    int file = memfd_create("chute", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, size) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0) return file;
    int failure = errno;
    close(file);
    errno = failure;
    return -1;
}

// Few arenas and big blocks of their own: what a burst needed goes back to the system after it.
void chute_keep_heap_small(void) {
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 512 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

#if defined __x86_64__
#define CHUTE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define CHUTE_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define CHUTE_ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#ifdef CHUTE_ARCHITECTURE
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

// No connections, no hand on other processes, no way out of the group. Another architecture's numbers end the program.
static struct sock_filter refused_calls[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CHUTE_ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),  // x32
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
    REFUSE(setsid), REFUSE(setpgid), REFUSE(socket), REFUSE(io_uring_setup), REFUSE(kill), REFUSE(pidfd_send_signal),
    REFUSE(ptrace), REFUSE(process_vm_readv), REFUSE(process_vm_writev),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
#endif

static void limit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit now;
    if (!soft || getrlimit((__rlimit_resource_t)resource, &now) < 0) return;
    if (hard < now.rlim_max) now.rlim_max = hard;
    now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
    setrlimit((__rlimit_resource_t)resource, &now);
}

// In the child, whose memory is the parent's: system calls only, and no signal handler may run.
static int become_limited(const char *path, char *const arguments[], char *const environment[],
    const int streams[3], const struct chute_limits *limits, pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return errno;
    if (getppid() != parent) return ECHILD;
    if (setpgid(0, 0) < 0) return errno;
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &action, NULL);

    // Above 2 first, so that none is overwritten before it is taken.
    int own[3];
    for (int i = 0; i < 3; i++)
        if ((own[i] = fcntl(streams[i], F_DUPFD, 3)) < 0) return errno;
    for (int i = 0; i < 3; i++)
        if (dup2(own[i], i) < 0) return errno;
    syscall(SYS_close_range, 3, ~0U, 0);  // all are closed on exec anyhow

    limit(RLIMIT_CORE, 1, 1);  // a core of one byte is none; 0 would mean as before
    limit(RLIMIT_CPU, limits->processor_seconds, limits->processor_seconds + 1);
    limit(RLIMIT_AS, limits->address_space, limits->address_space);
    limit(RLIMIT_FSIZE, limits->file_size, limits->file_size);
    limit(RLIMIT_NOFILE, limits->descriptors, limits->descriptors);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return errno;
#ifdef CHUTE_ARCHITECTURE
    struct sock_fprog program = {sizeof refused_calls / sizeof *refused_calls, refused_calls};
    // A kernel without it (EINVAL) gives the limits only.
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 && errno != EINVAL) return errno;
#endif
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(path, arguments, environment);
    return errno;
}

pid_t chute_start_limited(const char *path, char *const arguments[], char *const environment[],
    int input, int output, int error, const struct chute_limits *limits) {
    const int streams[3] = {input, output, error};
    const pid_t parent = getpid();
    volatile int failure = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    // Shares memory until exec: no copy of page tables, and `failure` comes back without a pipe.
    pid_t child = vfork();
    if (child == 0) {
        failure = become_limited(path, arguments, environment, streams, limits, parent);
        _exit(127);
    }
    if (child < 0) failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure) {
        if (child > 0) while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        errno = failure;
        return -1;
    }
    return child;
}
int chute_await_end(int pidfd, int cancel, int milliseconds) {
    struct pollfd watched[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = cancel, .events = POLLIN}};
    int count = poll(watched, 2, milliseconds);
    if (count <= 0) return count;
    return watched[0].revents ? 1 : 2;
}
void chute_end_group(pid_t child) { kill(-child, SIGKILL); }
int chute_reap(pid_t child, int *status, int64_t *microseconds) {
    struct rusage used;
    if (wait4(child, status, 0, &used) < 0) return -1;
    *microseconds = ((int64_t)used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000
        + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    return 0;
}

int chute_datagram_socket(int family) {
    return socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int chute_network_monitor(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}
