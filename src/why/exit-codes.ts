/** Exit codes of programs in words. Pure. */

/** Names of the signals that usually end programs (signal(7), numbers of x86 and ARM). */
const signals: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL, an illegal instruction',
  6: 'SIGABRT, the program aborted itself',
  7: 'SIGBUS, a bad memory access',
  8: 'SIGFPE, an arithmetic error',
  9: 'SIGKILL: killed from outside, often for its memory or after its grace period',
  11: 'SIGSEGV, a bad memory access',
  13: 'SIGPIPE',
  15: 'SIGTERM: asked to end',
};

/** Returns what an exit code of a container usually means, by the conventions of shells. */
export function exitCodeInWords(code: number): string {
  if (code === 0) return 'no error';
  if (code === 1) return 'an error of the program';
  if (code === 2) return 'an error of the program, often wrong arguments';
  if (code === 125) return 'the engine could not run the command';
  if (code === 126) return 'the command is not executable';
  if (code === 127) return 'the command was not found';
  const signal = signals[code - 128];
  if (signal !== undefined) return signal;
  if (code > 128 && code < 160) return `ended by signal ${code - 128}`;
  return 'an error of the program';
}
