/** The executable's root. It loads nothing but itself until it knows which command is meant: one line each. */
import { version } from './base/version.ts';
import { dispatch, type Entry } from './dispatch.ts';

const commands: Readonly<Record<string, Entry>> = {
  up: {
    about: 'run a whole cluster on this machine',
    load: async () => (await import('./roles/up.ts')).command,
  },
  master: { about: 'run a control plane', load: async () => (await import('./roles/master.ts')).command },
  token: {
    about: 'make, list and delete the tokens by which machines join',
    load: async () => (await import('./roles/token.ts')).processCommand(),
  },
  node: {
    about: 'join a cluster and run its pods',
    load: async () => (await import('./roles/node.ts')).command,
  },
  reset: {
    about: 'remove everything minik8s made on this machine',
    load: async () => (await import('./roles/reset.ts')).command,
  },
  ctl: {
    about: 'the client: get, apply, delete, logs, …',
    load: async () => (await import('./cli/ctl.ts')).processCommand(),
  },
  version: { about: 'print the version', load: async () => ({ run: () => print(`${version()}\n`) }) },
};

function print(text: string): void {
  process.stdout.write(text);
}

const argv = process.argv.slice(2);
const flags: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version' };
const [first = ''] = argv;

void dispatch(commands, Object.hasOwn(flags, first) ? [flags[first] ?? '', ...argv.slice(1)] : argv, {
  out: print,
  err: (text) => process.stderr.write(text),
}).then((status) => process.exit(status));
