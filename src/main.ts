/** The executable's root. It imports nothing else until the command is known. */

import { commands, otherWords } from './command-table.ts';
import { calledAs } from './link-name.ts';
import { untilCorrected } from './roles/settings/correction.ts';
import { colorModes, paletteFor } from './terminal/color.ts';
import { flushed, isReaderGone } from './terminal/standard-output.ts';

/** Exit status for a command line or settings that are rejected; systemd does not restart after it. */
const wrongSettings = 2;
const typed = process.argv.slice(2);
const argv = calledAs ? clientWords(typed) : typed;
const flags: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version' };
const [first = ''] = argv;
/** True if supervise-daemon of OpenRC starts this process again, whatever its exit status is. */
const isSupervised = process.env.SERVICE_READY_FILE !== undefined;
const { stdout, stderr } = process;

/** Colour mode of errors that occur before a command runs. */
const mode = colorModes.findLast((name) => argv.includes(`--color=${name}`)) ?? 'auto';
const palette = paletteFor(mode, process.env, stderr.isTTY);

stdout.on('error', (error) => {
  if (isReaderGone(error)) return;
  stderr.write(palette.message(`error: cannot write: ${error.message}\n`));
  process.exitCode = 1;
});
// Nobody could read an error message here. A cluster keeps running without its log.
stderr.on('error', () => {});

/**
 * Ends the process once its output has been read, or at once on a signal, such as Ctrl-C while the reader of
 * the output is stopped.
 */
async function end(status: number): Promise<void> {
  process.exitCode = status || process.exitCode;
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  await Promise.all([flushed(stdout), flushed(stderr)]);
  // The next start would reject the same settings.
  if (isSupervised && status === wrongSettings) await untilCorrected();
  // A failed write has set the exit status meanwhile. Open sockets and timers may be left, which would keep
  // the process alive.
  await new Promise(setImmediate);
  process.exit();
}

const output = {
  out: (text: string) => void stdout.write(text),
  err: (text: string) => void stderr.write(palette.message(text)),
};
const named = Object.hasOwn(flags, first) ? [flags[first] ?? '', ...argv.slice(1)] : argv;
void import('./dispatch.ts').then(({ dispatch }) => dispatch(commands, named, output, otherWords)).then(end);

/** Returns the arguments of the executable for those of kubectl: its completion is asked as that of ctl. */
function clientWords([first, , ...words]: readonly string[]): readonly string[] {
  return first === '__complete' ? [first, '--', 'ctl', ...words] : ['ctl', ...typed];
}
