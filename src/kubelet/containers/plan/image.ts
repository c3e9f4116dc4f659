/** What an image's own configuration means for a container. */
import type { RuntimeImage } from '../../runtime/runtime.ts';

/** `command` replaces the entrypoint and with it the image's own arguments; `args` replaces the arguments. */
export function containerArgv(
  container: { readonly command?: readonly string[]; readonly args?: readonly string[] },
  image: Pick<RuntimeImage, 'entrypoint' | 'command'>,
): readonly string[] {
  const { command = [], args = [] } = container;
  if (command.length > 0) return [...command, ...args];
  return [...image.entrypoint, ...(args.length > 0 ? args : image.command)];
}

/** As the engine knows them. */
const signalNames = new Set(
  (
    'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS ' +
    'TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'
  ).split(' '),
);
const realTime = /^RT(MIN(\+([1-9]|1[0-5]))?|MAX(-([1-9]|1[0-4]))?)$/;
const lastSignal = 64;

/**
 * The signal that asks a container to end; undefined leaves the image's. Of an image that names none that there is the
 * engine would make containers which it cannot ask then.
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
