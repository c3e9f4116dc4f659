/** Converts a verb of `ctl` to a command of the executable, and runs it. */
import { type CommandDef, defineCommand } from 'citty';
import { isNotFound, StatusError } from '../apimachinery/status-error.ts';
import { signalStatus } from '../base/abort.ts';
import { currentSpan, errorKind } from '../base/tracing/current-span.ts';
import { UsageError } from '../base/usage-error.ts';
import { colorModes, paletteFor } from '../terminal/color.ts';
import { type Cluster, connect } from './connection/cluster.ts';
import { ExitError, errorText, inContext, isOfServer, ReportedError } from './errors.ts';
import { connectionFlags, Flags, type FlagTable, namesManifests, toArgs } from './flags/flags.ts';
import type { Io } from './io.ts';
import { refusalOf } from './kubectl-differences.ts';
import { UnknownResourceError } from './objects/discovery.ts';
import { otherNamespaceNotes, similarNameNotes } from './objects/other-namespaces.ts';
import { otherForm } from './other-forms.ts';
import { shown } from './printers/table-writer.ts';
import { stoppedStatus } from './stop-requests.ts';
import { tracedCommand } from './tracing.ts';
import type { CtlIo, Verb, VerbGroup } from './verb.ts';

// biome-ignore lint/suspicious/noExplicitAny: citty's own name for a command whose arguments are not known here.
export type AnyCommand = CommandDef<any>;

/** Converts a verb. `name` is its full name, including those of the commands above it. */
export function toCommand(verb: Verb | VerbGroup, io: CtlIo, name: string): AnyCommand {
  const meta = { description: verb.about };
  if ('verbs' in verb) {
    // Connection flags may also precede the name of the inner command.
    const args = toArgs(connectionFlags, undefined);
    const group = defineCommand({ meta, args, subCommands: commandsOf(verb.verbs, io, name) });
    return withHelp(withRefusals(group, name), verb, undefined);
  }
  // A verb's own flag may have the name of a connection flag: `create rolebinding --user`.
  const table: FlagTable = { ...connectionFlags, ...verb.flags };
  const command = defineCommand({
    meta,
    args: toArgs(table, verb.words),
    ...(verb.inner && { subCommands: commandsOf(verb.inner, io, name) }),
    run: ({ rawArgs }) =>
      tracedCommand(io, name, () =>
        runVerb(verb, new Flags(table, [...(verb.firstWords ?? []), ...rawArgs]), io, [
          ...name.split(' ').slice(1),
          ...rawArgs,
        ]),
      ),
  });
  return withHelp(withRefusals(command, name), verb, verb.words);
}

/** Returns the command with the parts of its help page that citty has no field for. */
const withHelp = (
  command: AnyCommand,
  { examples, group = 'Other Commands' }: Pick<Verb, 'examples' | 'group'>,
  words: Verb['words'],
): AnyCommand => ({
  ...command,
  ...{ examples, group, note: 'minik8s ctl options lists the flags of every command, such as --namespace.' },
  ...(words !== undefined && { forms: [words].flat() }),
});

/** Returns the commands of a group. If a verb has several names, the later ones are aliases of the first. */
function commandsOf(
  verbs: Readonly<Record<string, Verb | VerbGroup>>,
  io: CtlIo,
  outer: string,
): Record<string, AnyCommand> {
  const entries = Object.entries(verbs);
  const commands = entries.map(([name, inner]) => {
    const names = entries.filter(([, other]) => other === inner).map(([other]) => other);
    const [first] = names;
    const aliases = names.filter((other) => other !== name);
    return [
      name,
      {
        ...toCommand(inner, io, `${outer} ${name}`),
        ...{ group: 'Commands', aliases },
        ...(first !== name && { aliasOf: first }),
      } as AnyCommand,
    ] as const;
  });
  return Object.fromEntries(commands);
}

/**
 * Returns the command with the reasons for which it rejects words that only kubectl has; src/dispatch.ts
 * prints them.
 */
export function withRefusals(command: AnyCommand, name: string): AnyCommand {
  return { ...command, elsewhere: (word: string) => refusalOf(name, word) } as AnyCommand;
}

async function runVerb(verb: Verb, flags: Flags, outside: CtlIo, line: readonly string[]): Promise<void> {
  let cluster: Cluster | undefined;
  const color = flags.oneOf('color', colorModes) ?? 'auto';
  const { columns = {} } = outside;
  const colorsOf = (width: number | undefined) => paletteFor(color, outside.env, width !== undefined);
  const { message } = colorsOf(columns.err);
  // Errors, warnings and states of objects contain text that anybody may have written, so its control
  // characters are escaped.
  const io: CtlIo = { ...outside, err: (text) => outside.err(message(shown(text))) };
  const verbosity = flags.whole('v') ?? 0;
  const reported: unknown[] = [];
  const report = (error: unknown) => {
    reported.push(error);
    if (mayBeStale(error)) cluster?.forgetResources?.();
    currentSpan()?.fail(errorKind(error));
    io.err(`${errorText(withCredentialsProblem(error, cluster), columns.err)}\n`);
    if (verbosity >= 1 && cluster && isOfServer(error)) io.err(`request id: ${cluster.requestId}\n`);
    io.exitWith(1);
  };
  try {
    await verb.run({
      io,
      flags,
      palette: colorsOf(columns.out),
      report,
      cluster: () => {
        cluster ??= connect(io, flags);
        return cluster;
      },
    });
    if (io.signal.aborted) endStopped(verb, io);
    failForWarnings(flags, cluster, report);
  } catch (error) {
    if (io.signal.aborted) endStopped(verb, io);
    else endWith(error, io, report);
  } finally {
    printOtherForm(io, reported, line);
    if (!namesManifests(flags)) await printOtherNamespaces(cluster, io, reported);
    cluster?.close();
  }
}

/** Reports an error if the server has sent warnings, and --warnings-as-errors is given. */
function failForWarnings(flags: Flags, cluster: Cluster | undefined, report: (error: unknown) => void): void {
  const count = flags.on('warnings-as-errors') ? (cluster?.warningCount?.() ?? 0) : 0;
  if (count > 0) report(new Error(`${count} warning${count === 1 ? '' : 's'} received`));
}

/** Sets the exit status of a verb that was asked to end. */
function endStopped({ untilInterrupted }: Verb, io: Io): void {
  const status = stoppedStatus(io.signal);
  if (status !== undefined) io.exitWith(untilInterrupted && status === interrupted ? 0 : status);
}

/** Exit status after Ctrl-C: 128 plus the number of SIGINT. */
const interrupted = signalStatus('SIGINT');

/** Reports the error that ended a verb and sets the exit status. Rethrows a UsageError. */
function endWith(error: unknown, io: Io, report: (error: unknown) => void): void {
  if (error instanceof UsageError) throw error;
  if (error instanceof ReportedError) io.exitWith(1);
  else {
    report(error);
    if (error instanceof ExitError) io.exitWith(error.status);
  }
}

/**
 * Prints where the objects of NotFound errors exist, or which names resemble theirs, unless the user
 * interrupted. An error of this search is dropped.
 */
async function printOtherNamespaces(
  cluster: Cluster | undefined,
  io: Io,
  reported: readonly unknown[],
): Promise<void> {
  if (!cluster || io.signal.aborted) return;
  const errors = reported.filter((error) => error instanceof StatusError);
  if (errors.length === 0) return;
  const elsewhere = await otherNamespaceNotes(cluster, errors).catch(() => []);
  // Other names are a help for people; programs get the bytes of kubectl.
  const isPerson = io.columns?.err !== undefined && elsewhere.length === 0;
  const similar = isPerson ? await similarNameNotes(cluster, errors).catch(() => []) : [];
  const notes = [...elsewhere, ...similar];
  for (const note of notes) io.err(`Note: ${note}\n`);
}

/**
 * Prints the command line to type instead if a kind was not found and the command line has the form of
 * another system.
 */
function printOtherForm(io: Io, reported: readonly unknown[], line: readonly string[]): void {
  if (!reported.some((error) => error instanceof UnknownResourceError)) return;
  const instead = otherForm(line);
  if (instead !== undefined) io.err(`Note: type instead: ${instead}\n`);
}

/** Returns the same error; a 401 also gets what the client finds wrong with its credentials, if anything. */
function withCredentialsProblem(error: unknown, cluster: Cluster | undefined): unknown {
  const why = error instanceof StatusError && error.status.code === 401 && cluster?.credentialsProblem?.();
  return why ? inContext(error, why) : error;
}

/** Returns true for an error that an outdated cache of the server's resources may have caused. */
const mayBeStale = (error: unknown): boolean =>
  error instanceof UnknownResourceError ||
  (error instanceof StatusError && isNotFound(error) && !error.status.details?.name);
