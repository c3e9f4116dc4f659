/*
 * The one program minik8s puts into pods, static and without a library of its own.
 *
 *   pause                         holds a pod's namespaces: leaves the host's network for a new one, gives up every
 *                                 right, then waits, reaping orphans, until SIGTERM. Started by Docker with the host's
 *                                 network because Docker's own network set-up costs more than the rest of a pod.
 *   pause host                    the same for a pod that stays in the host's network.
 *   pause init NAME LOG COMMAND...  first program of a container: waits until the host name is NAME (the node agent
 *                                 sets it from outside: Docker cannot name a container that joins a sandbox made
 *                                 ahead of time), then becomes COMMAND. Gives up waiting after five seconds. Why
 *                                 COMMAND cannot be run is written to LOG, the container's termination message.
 *   pause sethostname PID NAME    on the host: names the container whose first process is PID.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
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

static int set_hostname(const char *pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/ns/uts", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(path);
  if (setns(fd, CLONE_NEWUTS) < 0) return fail("enter the container's names");
  return sethostname(name, strlen(name)) < 0 ? fail("set the host name") : 0;
}

int main(int argc, char **argv) {
  if (argc == 1) return unshare(CLONE_NEWNET) < 0 ? fail("make a network namespace") : hold();
  if (argc == 2 && strcmp(argv[1], "host") == 0) return hold();
  if (argc >= 5 && strcmp(argv[1], "init") == 0) return init(argv[2], argv[3], argv + 4);
  if (argc == 4 && strcmp(argv[1], "sethostname") == 0) return set_hostname(argv[2], argv[3]);
  fprintf(stderr, "usage: pause [host | init NAME LOG COMMAND... | sethostname PID NAME]\n");
  return 2;
}
