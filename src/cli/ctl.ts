/** `minik8s ctl`: the client. It gets all information about kinds from the server. */
import { once } from 'node:events';
import { homedir } from 'node:os';
import { defineCommand } from 'citty';
import { unlessAborted } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { terminalLines } from '../terminal/live-lines.ts';
import { sparseLines } from '../terminal/sparse-lines.ts';
import { flushed, isReaderGone } from '../terminal/standard-output.ts';
import { verbs } from './commands/index.ts';
import { connectionFlags, toArgs } from './flags/flags.ts';
import type { Stdio } from './io.ts';
import { namedKubectl } from './kubectl-name.ts';
import { applyKuberc } from './kuberc/apply.ts';
import type { PluginPolicy } from './kuberc/plugin-policy.ts';
import { readText } from './manifests/standard-input.ts';
import { otherForm } from './other-forms.ts';
import { findPlugin, pluginNames, runPlugin } from './plugins.ts';
import { stopRequests } from './stop-requests.ts';
import { type CtlIo, commandGroups } from './verb.ts';
import { type AnyCommand, toCommand, withRefusals } from './verb-command.ts';

export function ctlCommand(outside: CtlIo): AnyCommand {
  const all = { ...verbs, ...outside.features.verbs };
  const renamed = outside.calledAs && namedKubectl(Object.keys(all));
  let plugins: PluginPolicy | undefined;
  const io: CtlIo = {
    ...outside,
    ...(renamed && { err: (text: string) => outside.err(renamed(text)) }),
    pluginPolicy: () => plugins,
  };
  const subCommands = Object.entries(all).map(([name, load]) => [
    name,
    async () => toCommand(await load(), io, `ctl ${name}`),
  ]);
  const command = defineCommand({
    meta: { description: 'work with a cluster: a client with the commands and flags of kubectl' },
    args: toArgs(connectionFlags, undefined),
    subCommands: Object.fromEntries(subCommands),
  });
  const expanded = (argv: readonly string[]) =>
    applyKuberc(argv, io, all, (policy) => {
      plugins = policy;
    });
  return {
    ...withRefusals(command, 'ctl'),
    adviceOnLine: otherForm,
    usageStatus: async ([name = '']: readonly string[]) => {
      const verb = Object.hasOwn(all, name) ? await all[name]?.() : undefined;
      return verb && 'usageStatus' in verb ? verb.usageStatus : undefined;
    },
    ...{ runPlugin: pluginRunner(io), pluginNames: () => pluginNames(io.env.PATH ?? '') },
    ...{ groups: commandGroups, examples, expanded, ...(renamed && { renamed }) },
    note: 'minik8s ctl options lists the flags of every command, such as --namespace.',
  } as AnyCommand;
}

const examples = [
  'ctl create deployment web --image=nginx # run an image',
  'ctl get pods # list the pods of the namespace',
  'ctl describe deployment web # see why something does not run',
  'ctl explain pods.spec.containers # read what a field means',
];

/**
 * Returns a function that runs the plugin whose name the words begin with. It resolves to the plugin's exit
 * status, or to undefined if the PATH has no such plugin.
 */
const pluginRunner = (io: CtlIo) => async (words: readonly string[]) => {
  const found = findPlugin(io.env.PATH ?? '', words);
  if (found === undefined) return undefined;
  const run = () => runPlugin(found.file, found.args, { ...io.env });
  return io.lendTerminal ? io.lendTerminal(run) : run();
};

type ClientParts = Pick<CtlIo, 'kubernetesFields' | 'features' | 'calledAs'>;

/** Returns the client of this process. Call it once. */
export const processCommand = (parts: ClientParts): AnyCommand => ctlCommand(processIo(parts));

/** Returns the process's own streams, and Ctrl-C as a signal. Call it once. */
export function processIo(parts: ClientParts): CtlIo {
  const { signal, readerGone, lendTerminal } = stopRequests();
  // `ctl get -w | head` closes the pipe early: the command then ends without an error. main reports other
  // errors.
  process.stdout.on('error', (error) => {
    // A command that has been stopped, such as by the end of its terminal, ends when it has cleaned up.
    if (signal.aborted) return;
    if (isReaderGone(error)) readerGone();
    else void flushed(process.stderr).then(() => process.exit(1));
  });
  const live = terminalLines(systemClock);
  const to = (stream: NodeJS.WriteStream) => (text: string) => {
    // Output to a file or a pipe must not move the progress lines of the terminal.
    if (stream.isTTY) live?.before(text);
    stream.write(text);
  };
  return {
    out: to(process.stdout),
    err: to(process.stderr),
    room: async () => {
      if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain', { signal });
    },
    progress: live ?? sparseLines((text) => void process.stderr.write(text), systemClock),
    readStdin: () => unlessAborted(signal, readText(process.stdin)),
    stdio: processStdio,
    columns: { out: columnsOf(process.stdout), err: columnsOf(process.stderr) },
    screen: () => sizeOf(process.stdout, process.env.TERM),
    env: process.env,
    homeDirectory: homedir(),
    clock: systemClock,
    random: systemRandom,
    ...parts,
    signal,
    lendTerminal,
    exitWith: (status) => {
      process.exitCode = status;
    },
  };
}

const columnsOf = ({ isTTY, columns }: NodeJS.WriteStream) => (isTTY ? columns : undefined);

const sizeOf = ({ isTTY, columns, rows }: NodeJS.WriteStream, name = '') =>
  isTTY && name !== '' && name !== 'dumb' ? { columns: columns || 80, rows: rows || 24 } : undefined;

function processStdio(): Stdio {
  const { stdin, stdout, stderr } = process;
  if (!stdin.isTTY) return { stdin, stdout, stderr };
  return {
    stdin,
    stdout,
    stderr,
    terminal: {
      size: () => (stdout.isTTY ? { width: stdout.columns, height: stdout.rows } : undefined),
      onResize: (listener) => {
        stdout.on('resize', listener);
        return () => stdout.off('resize', listener);
      },
      setRaw: (on) => void stdin.setRawMode(on),
    },
  };
}
