/*
 * The only program that minik8s puts into pods. It is linked statically and has no library of its own.
 *
 *   pause
 *     Holds a pod's namespaces: leaves the host's network for a new one, drops all privileges, then waits until
 *     SIGTERM and reaps orphans. Docker starts it with the host's network, because Docker's own network set-up
 *     costs more than the rest of a pod.
 *   pause host
 *     Does the same for a pod that stays in the host's network.
 *   pause init NAME LOG COMMAND...
 *     First program of a container: waits until the host name is NAME (the node agent sets it from outside, as
 *     Docker cannot name a container that joins a sandbox made in advance), then becomes COMMAND. Waits for at
 *     most five seconds. The reason why COMMAND cannot be run is written to LOG, the container's termination
 *     message.
 *   pause sethostname PID NAME
 *     On the host: sets the host name of the container whose first process is PID.
 *   pause connect PID PORT
 *     On the host: connects its standard input and output to a TCP connection to PORT on the loopback address of
 *     PID's network, until both directions have ended. A failure to connect is one line on standard error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { nobody = 65534, failed = 1, cannot_run = 126, not_found = 127 };

static int fail(const char *what) {
  fprintf(stderr, "minik8s pause: %s: %s\n", what, strerror(errno));
  return failed;
}

static int drop_rights(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) return fail("drop a capability");
  if (setgroups(0, NULL) < 0 || setresgid(nobody, nobody, nobody) < 0 || setresuid(nobody, nobody, nobody) < 0)
    return fail("become nobody");
  if (syscall(SYS_capset, &header, none) < 0) return fail("drop capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return fail("set no_new_privs");
  return 0;
}

static int hold(void) {
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGTERM);
  sigaddset(&waited, SIGINT);
  sigaddset(&waited, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &waited, NULL) < 0) return fail("block signals");
  if (drop_rights() != 0) return failed;
  for (;;) {
    int got = sigwaitinfo(&waited, NULL);
    if (got == SIGTERM || got == SIGINT) return 0;
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
}

static int init(const char *name, const char *log, char **command) {
  char current[256];
  const struct timespec pause = {0, 1000000};
  for (int waited = 0; waited < 5000; waited++) {
    if (gethostname(current, sizeof current) == 0 && strcmp(current, name) == 0) break;
    nanosleep(&pause, NULL);
  }
  execvp(command[0], command);
  int why = errno, fd = open(log, O_WRONLY | O_CLOEXEC);
  dprintf(fd < 0 ? STDERR_FILENO : fd, "exec: \"%s\": %s\n", command[0], strerror(why));
  return why == ENOENT ? not_found : cannot_run;
}

static int enter(const char *pid, const char *space, int type) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/ns/%s", pid, space);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(path);
  if (setns(fd, type) < 0) return fail("enter the container's namespace");
  close(fd);
  return 0;
}

static int set_hostname(const char *pid, const char *name) {
  if (enter(pid, "uts", CLONE_NEWUTS) != 0) return failed;
  return sethostname(name, strlen(name)) < 0 ? fail("set the host name") : 0;
}

static int connect_to(int family, const void *address, socklen_t length) {
  int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  if (fd < 0) return -1;
  if (connect(fd, address, length) < 0) {
    int why = errno;
    close(fd);
    errno = why;
    return -1;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

/* Connects to a pod's localhost: 127.0.0.1, or else ::1. A failure keeps the first attempt's errno. */
static int connect_loopback(int port) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 six = {
      .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = connect_to(AF_INET, &four, sizeof four), why = errno;
  if (fd < 0) fd = connect_to(AF_INET6, &six, sizeof six);
  errno = why;
  return fd;
}

struct direction {
  int from, to;
  size_t start, end;
  int ended, done;
  char bytes[65536];
};

/* Moves data as far as possible without blocking; returns -1 when an end is broken. */
static int move(struct direction *d) {
  if (!d->ended && d->start == d->end) {
    ssize_t got = read(d->from, d->bytes, sizeof d->bytes);
    if (got < 0 && errno != EAGAIN && errno != EINTR) return -1;
    if (got == 0) d->ended = 1;
    d->start = 0;
    d->end = got > 0 ? got : 0;
  }
  while (d->start < d->end) {
    ssize_t put = write(d->to, d->bytes + d->start, d->end - d->start);
    if (put < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    d->start += put;
  }
  if (d->ended && !d->done) {
    d->done = 1;
    /* Only this direction ends: the other one may still have data. */
    if (shutdown(d->to, SHUT_WR) < 0 && errno == ENOTSOCK) close(d->to);
  }
  return 0;
}

static int bridge(int connection) {
  static struct direction in, out;
  in.from = STDIN_FILENO, in.to = out.from = connection, out.to = STDOUT_FILENO;
  signal(SIGPIPE, SIG_IGN);
  const int ends[] = {STDIN_FILENO, STDOUT_FILENO, connection};
  for (int i = 0; i < 3; i++) fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) | O_NONBLOCK);
  while (!in.done || !out.done) {
    int reads_in = !in.ended && in.start == in.end, reads_out = !out.ended && out.start == out.end;
    short wanted = (reads_out ? POLLIN : 0) | (in.start < in.end ? POLLOUT : 0);
    struct pollfd polled[] = {
        {in.done || !reads_in ? -1 : STDIN_FILENO, POLLIN, 0},
        /* A broken connection is always ready, which would wake this loop in vain while output waits. */
        {wanted || out.done ? connection : -1, wanted, 0},
        {out.done ? -1 : STDOUT_FILENO, out.start < out.end ? POLLOUT : 0, 0},
    };
    if (poll(polled, 3, -1) < 0 && errno != EINTR) return fail("wait");
    /* Standard output has no reader any more. */
    if (polled[2].revents & (POLLERR | POLLHUP)) return 0;
    /* A broken connection looks from outside like one that has ended. */
    if (move(&in) < 0 || move(&out) < 0) return 0;
    if ((polled[1].revents & POLLERR) && out.done) return 0;
  }
  return 0;
}

static int connect_port(const char *pid, const char *text) {
  int port = atoi(text);
  if (port < 1 || port > 65535) return fprintf(stderr, "%s is not a port\n", text), failed;
  if (enter(pid, "net", CLONE_NEWNET) != 0) return failed;
  int connection = connect_loopback(port);
  if (connection < 0) return fprintf(stderr, "connect to port %d: %s\n", port, strerror(errno)), failed;
  return bridge(connection);
}

int main(int argc, char **argv) {
  if (argc == 1) return unshare(CLONE_NEWNET) < 0 ? fail("make a network namespace") : hold();
  if (argc == 2 && strcmp(argv[1], "host") == 0) return hold();
  if (argc >= 5 && strcmp(argv[1], "init") == 0) return init(argv[2], argv[3], argv + 4);
  if (argc == 4 && strcmp(argv[1], "sethostname") == 0) return set_hostname(argv[2], argv[3]);
  if (argc == 4 && strcmp(argv[1], "connect") == 0) return connect_port(argv[2], argv[3]);
  fprintf(stderr, "usage: pause [host | init NAME LOG COMMAND... | sethostname PID NAME | connect PID PORT]\n");
  return 2;
}
