/** The executable's root. It loads nothing but itself until it knows which command is meant. */
import { colorModes, paletteFor } from './base/color.ts';
import { commands } from './command-table.ts';
import { dispatch } from './dispatch.ts';

const argv = process.argv.slice(2);
const flags: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version' };
const [first = ''] = argv;

/** For what goes wrong before a command runs. */
const mode = colorModes.findLast((name) => argv.includes(`--color=${name}`)) ?? 'auto';
const palette = paletteFor(mode, process.env, process.stderr.isTTY);

void dispatch(commands, Object.hasOwn(flags, first) ? [flags[first] ?? '', ...argv.slice(1)] : argv, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(palette.message(text)),
}).then((status) => process.exit(status));
