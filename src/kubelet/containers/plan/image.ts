/** The meaning of an image's configuration for a container. */
import type { RuntimeImage } from '../../runtime/runtime.ts';

/**
 * Returns the command line. `command` replaces the entrypoint and with it the image's own arguments; `args`
 * replaces the arguments.
 */
export function containerArgv(
  container: { readonly command?: readonly string[]; readonly args?: readonly string[] },
  image: Pick<RuntimeImage, 'entrypoint' | 'command'>,
): readonly string[] {
  const { command = [], args = [] } = container;
  if (command.length > 0) return [...command, ...args];
  return [...image.entrypoint, ...(args.length > 0 ? args : image.command)];
}

/** Signal names that the engine accepts. */
const signalNames = new Set(
  (
    'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS ' +
    'TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'
  ).split(' '),
);
const realTime = /^RT(MIN(\+([1-9]|1[0-5]))?|MAX(-([1-9]|1[0-4]))?)$/;
const lastSignal = 64;

/**
 * Returns the container's stop signal; undefined for the image's. An image may name a signal that does not
 * exist, with which the engine would create containers that it cannot stop; SIGTERM is used instead.
 */
export function stopSignalOf(
  wanted: string | undefined,
  { stopSignal }: Pick<RuntimeImage, 'stopSignal'>,
): string | undefined {
  if (wanted !== undefined || stopSignal === '') return wanted;
  const name = stopSignal.toUpperCase().replace(/^SIG/, '');
  const number = /^\d+$/.test(stopSignal) ? Number(stopSignal) : 0;
  const isOne = signalNames.has(name) || realTime.test(name) || (number > 0 && number <= lastSignal);
  return isOne ? undefined : 'SIGTERM';
}
