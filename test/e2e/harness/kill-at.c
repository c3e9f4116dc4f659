/*
 * Kills the process that loads this library (LD_PRELOAD) at one of its effects: the KILL_AT-th, counted from
 * 1. Effects are changes of files and starts of programs. With KILL_AFTER the process is killed once the
 * effect has happened, or a moment after a program has started; otherwise before it. Programs that the
 * process starts do not load the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int count;
static int at, after;
static pid_t own;

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("KILL_AT");
  at = text ? atoi(text) : 0;
  after = getenv("KILL_AFTER") != NULL;
  own = getpid();
  unsetenv("KILL_AT");
  unsetenv("KILL_AFTER");
  unsetenv("LD_PRELOAD");
}

static void die(void) {
  kill(own, SIGKILL);
  for (;;) pause();
}

/* Returns true if the process is to be killed after this effect. */
static int effect(void) {
  if (getpid() != own) return 0;
  if (atomic_fetch_add(&count, 1) + 1 != at) return 0;
  if (!after) die();
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(name, parameters, arguments) \
  int name parameters { \
    int last = effect(); \
    int result = REAL(name) arguments; \
    if (last) die(); \
    return result; \
  }

WRAP(rename, (const char *from, const char *to), (from, to))
WRAP(link, (const char *from, const char *to), (from, to))
WRAP(symlink, (const char *target, const char *path), (target, path))
WRAP(unlink, (const char *path), (path))
WRAP(rmdir, (const char *path), (path))
WRAP(mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(chmod, (const char *path, mode_t mode), (path, mode))
WRAP(fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(fsync, (int fd), (fd))

pid_t fork(void) {
  int last = effect();
  pid_t result = REAL(fork)();
  if (last && result != 0) {
    usleep(30000);
    die();
  }
  return result;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = va_arg(list, mode_t); \
    va_end(list); \
    int changes = (flags & O_CREAT) && strncmp(path, "/dev/", 5) != 0; \
    int last = changes && effect(); \
    int result = REAL(name)(path, flags, mode); \
    if (last) die(); \
    return result; \
  }
OPEN(open)
OPEN(open64)

static int is_file(int fd) {
  struct stat about;
  return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  int last = is_file(fd) && effect();
  /* A killed process may have written a part. */
  ssize_t result = REAL(write)(fd, bytes, last ? length / 2 : length);
  if (last) die();
  return result;
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
  int last = effect();
  ssize_t result = REAL(copy_file_range)(in, from, out, to, last ? length / 2 : length, flags);
  if (last) die();
  return result;
}

ssize_t sendfile64(int out, int in, off64_t *from, size_t length) {
  int last = is_file(out) && effect();
  ssize_t result = REAL(sendfile64)(out, in, from, last ? length / 2 : length);
  if (last) die();
  return result;
}
