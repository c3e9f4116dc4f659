/*
 * The agent of a virtual machine runs commands for the test at the other end of a virtio-serial port, which is
 * the first argument. A frame is a header (channel, type, length of the payload, each 32 bits) and a payload; a
 * channel is one command (agent-link.ts is the other side).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Types of frames from the test, and of frames to it. */
enum { RUN = 1, INPUT = 2, KILL = 3 };
enum { HELLO = 1, STDOUT = 2, STDERR = 3, EXIT = 4, TAKEN = 5 };
enum { MOST = 64, CHUNK = 65536 };

struct header {
  uint32_t channel, type, length;
};

/* A running command; its `process` (a pidfd) is -1 where the slot is free. */
struct command {
  uint32_t channel;
  pid_t pid;
  int process, in, out[2];
  char *input;
  size_t taken, length;
};

static int port;
static struct command commands[MOST];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void send_frame(uint32_t channel, uint32_t type, const void *payload, size_t length) {
  struct header header = {channel, type, length};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)payload, length}};
  for (size_t i = 0; i < 2;) {
    ssize_t written = writev(port, parts + i, 2 - i);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    for (; i < 2 && (size_t)written >= parts[i].iov_len; i++) written -= parts[i].iov_len;
    if (i < 2) {
      parts[i].iov_base = (char *)parts[i].iov_base + written;
      parts[i].iov_len -= written;
    }
  }
}

static void receive(void *buffer, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t got = read(port, (char *)buffer + done, length - done);
    if (got > 0) {
      done += got;
    } else if (got == 0 || errno == EAGAIN) {
      struct pollfd wait = {port, POLLIN, 0};
      poll(&wait, 1, 1000);
    } else if (errno != EINTR) {
      fail("read");
    }
  }
}

static void close_input(struct command *command) {
  if (command->in >= 0) close(command->in);
  command->in = -1;
}

/* Answers with TAKEN once the whole chunk is in the pipe: the test sends the next one then. */
static void feed(struct command *command) {
  while (command->in >= 0 && command->taken < command->length) {
    ssize_t written = write(command->in, command->input + command->taken, command->length - command->taken);
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) close_input(command);
    else command->taken += written;
  }
  free(command->input);
  command->input = NULL;
  send_frame(command->channel, TAKEN, NULL, 0);
}

static void start(uint32_t channel, const char *text) {
  struct command *command = commands;
  while (command < commands + MOST && command->process >= 0) command++;
  if (command == commands + MOST) {
    uint32_t status = 126 << 8;
    send_frame(channel, EXIT, &status, sizeof status);
    return;
  }
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) fail("pipe");
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    setsid();
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0) _exit(126);
    execl("/bin/bash", "bash", "-c", text, NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  int own[3] = {in[1], out[0], err[0]};
  for (int i = 0; i < 3; i++) fcntl(own[i], F_SETFL, O_NONBLOCK);
  *command = (struct command){channel, pid, pidfd_open(pid, 0), in[1], {out[0], err[0]}, NULL, 0, 0};
  if (command->process < 0) fail("pidfd_open");
}

/* Forwards what is in the pipe; closes it at its end. */
static void drain(struct command *command, int which) {
  static char buffer[CHUNK];
  while (command->out[which] >= 0) {
    ssize_t got = read(command->out[which], buffer, sizeof buffer);
    if (got < 0) return;
    if (got > 0) {
      send_frame(command->channel, which == 0 ? STDOUT : STDERR, buffer, got);
    } else {
      close(command->out[which]);
      command->out[which] = -1;
    }
  }
}

/* Ends the channel with its process: one that goes on in the background may hold the pipes for ever. */
static void finish(struct command *command) {
  int status = 0;
  waitpid(command->pid, &status, 0);
  for (int i = 0; i < 2; i++) {
    drain(command, i);
    if (command->out[i] >= 0) close(command->out[i]);
  }
  close_input(command);
  free(command->input);
  close(command->process);
  command->process = -1;
  uint32_t sent = status;
  send_frame(command->channel, EXIT, &sent, sizeof sent);
}

/* Frames for a command that has ended meanwhile are ignored. */
static void obey(void) {
  struct header header;
  receive(&header, sizeof header);
  char *payload = malloc(header.length + 1);
  if (payload == NULL) fail("malloc");
  receive(payload, header.length);
  payload[header.length] = 0;
  if (header.type == RUN) start(header.channel, payload);
  struct command *command = commands;
  while (command < commands + MOST && (command->process < 0 || command->channel != header.channel)) command++;
  if (header.type == RUN || command == commands + MOST) {
    free(payload);
  } else if (header.type == INPUT && header.length > 0) {
    command->input = payload;
    command->length = header.length;
    command->taken = 0;
    feed(command);
  } else {
    if (header.type == INPUT) close_input(command);
    if (header.type == KILL) kill(-command->pid, SIGKILL);
    free(payload);
  }
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  port = open(count > 1 ? arguments[1] : "", O_RDWR | O_CLOEXEC);
  if (port < 0) fail("open");
  for (int i = 0; i < MOST; i++) commands[i].process = -1;
  send_frame(0, HELLO, NULL, 0);
  for (;;) {
    struct pollfd waits[1 + MOST * 4] = {{port, POLLIN, 0}};
    for (int i = 0; i < MOST; i++) {
      struct command *command = commands + i;
      int running = command->process >= 0;
      struct pollfd *wait = waits + 1 + i * 4;
      wait[0] = (struct pollfd){running ? command->out[0] : -1, POLLIN, 0};
      wait[1] = (struct pollfd){running ? command->out[1] : -1, POLLIN, 0};
      wait[2] = (struct pollfd){running && command->input != NULL ? command->in : -1, POLLOUT, 0};
      wait[3] = (struct pollfd){command->process, POLLIN, 0};
    }
    if (poll(waits, 1 + MOST * 4, -1) < 0 && errno != EINTR) fail("poll");
    for (int i = 0; i < MOST; i++) {
      struct pollfd *wait = waits + 1 + i * 4;
      if (wait[0].revents) drain(commands + i, 0);
      if (wait[1].revents) drain(commands + i, 1);
      if (wait[2].revents) feed(commands + i);
      if (wait[3].revents) finish(commands + i);
    }
    if (waits[0].revents & POLLIN) obey();
    /* Without a test at the other end there is nothing to read, and no way to wait for it but to look again. */
    else if (waits[0].revents & POLLHUP) usleep(100000);
  }
}
