/** One command of `ctl`, and how it becomes a command of the executable. */
import { type CommandDef, defineCommand } from 'citty';
import { StatusError } from '../apimachinery/status-error.ts';
import { colorModes, type Palette, paletteFor } from '../base/color.ts';
import { currentSpan, errorKind } from '../base/tracing/current-span.ts';
import { UsageError } from '../base/usage-error.ts';
import { type Cluster, connect } from './cluster.ts';
import { ExitError, errorText, inContext, isOfServer, ReportedError } from './errors.ts';
import { connectionFlags, Flags, type FlagTable, toArgs } from './flags.ts';
import type { Io } from './io.ts';
import { tracedCommand } from './tracing.ts';

export interface VerbContext {
  readonly io: Io;
  readonly flags: Flags;
  /** The colours of what is printed to `io.out`. */
  readonly palette: Palette;
  /** Connects on the first call; throws when no kubeconfig says where to. */
  cluster(): Cluster;
  /** Prints the error; the command goes on and ends with 1. */
  report(error: unknown): void;
}

export interface Verb {
  readonly about: string;
  /** What its words stand for, such as `POD`; absent: it takes none. */
  readonly words?: string;
  readonly flags?: FlagTable;
  /** Words that stand before those that are typed. */
  readonly firstWords?: readonly string[];
  /** Words and flags that kubectl's command takes and this one does not; -k is added for commands that take files. */
  readonly kubectlOnly?: readonly string[];
  /** Commands of its own, by the word behind its name. */
  readonly inner?: Readonly<Record<string, Verb>>;
  /** Being interrupted is its usual end: status 0. */
  readonly untilInterrupted?: true;
  run(context: VerbContext): Promise<void>;
}

export interface VerbGroup {
  readonly about: string;
  readonly verbs: Readonly<Record<string, Verb>>;
}

// biome-ignore lint/suspicious/noExplicitAny: citty's own name for a command whose arguments are not known here.
export type AnyCommand = CommandDef<any>;

/** `name` is what is typed for it, with the names of the commands that it belongs to. */
export function toCommand(verb: Verb | VerbGroup, io: Io, name: string): AnyCommand {
  const meta = { description: verb.about };
  if ('verbs' in verb) {
    // Flags of the connection may stand before the name of the inner command, too.
    const args = toArgs(connectionFlags, undefined);
    return defineCommand({ meta, args, subCommands: commandsOf(verb.verbs, io, name) });
  }
  // A flag of the verb's own may have the name of one of the connection: `create rolebinding --user`.
  const table: FlagTable = { ...connectionFlags, ...verb.flags };
  const command = defineCommand({
    meta,
    args: toArgs(table, verb.words),
    ...(verb.inner && { subCommands: commandsOf(verb.inner, io, name) }),
    run: ({ rawArgs }) =>
      tracedCommand(io, name, () =>
        runVerb(verb, new Flags(table, [...(verb.firstWords ?? []), ...rawArgs]), io),
      ),
  });
  return withKubectlHints(command, [...(table.filename ? kustomizeFlags : []), ...(verb.kubectlOnly ?? [])]);
}

const commandsOf = (
  verbs: Readonly<Record<string, Verb>>,
  io: Io,
  outer: string,
): Record<string, AnyCommand> =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, inner]) => [name, toCommand(inner, io, `${outer} ${name}`)]),
  );

/** Of every command of kubectl's that takes files. */
const kustomizeFlags = ['-k', '--kustomize'];

/** The command, which says of these words and flags that kubectl has them (src/dispatch.ts asks it). */
export function withKubectlHints(command: AnyCommand, kubectlOnly: Iterable<string> = []): AnyCommand {
  const known = new Set(kubectlOnly);
  const elsewhere = (name: string) =>
    known.has(name) ? 'kubectl has it and ctl does not; kubectl works with the same kubeconfig' : undefined;
  return { ...command, elsewhere } as AnyCommand;
}

async function runVerb(verb: Verb, flags: Flags, outside: Io): Promise<void> {
  let cluster: Cluster | undefined;
  const whenInterrupted = verb.untilInterrupted ? 0 : interrupted;
  const color = flags.oneOf('color', colorModes) ?? 'auto';
  const { columns = {} } = outside;
  const colorsOf = (width: number | undefined) => paletteFor(color, outside.env, width !== undefined);
  const { message } = colorsOf(columns.err);
  const io: Io = { ...outside, err: (text) => outside.err(message(text)) };
  const verbosity = flags.whole('v') ?? 0;
  const report = (error: unknown) => {
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
    if (io.signal.aborted) io.exitWith(whenInterrupted);
  } catch (error) {
    if (io.signal.aborted) io.exitWith(whenInterrupted);
    else if (error instanceof UsageError) throw error;
    else if (error instanceof ReportedError) io.exitWith(1);
    else {
      report(error);
      if (error instanceof ExitError) io.exitWith(error.status);
    }
  } finally {
    cluster?.close();
  }
}

/** The same error; of a 401 that says no more than Unauthorized, with what the client knows of its credentials. */
function withCredentialsProblem(error: unknown, cluster: Cluster | undefined): unknown {
  const why = error instanceof StatusError && error.status.code === 401 && cluster?.credentialsProblem?.();
  return why ? inContext(error, why) : error;
}

/** 128 and the number of SIGINT. */
const interrupted = 130;
