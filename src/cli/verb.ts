/** One command of `ctl`, and how it becomes a command of the executable. */
import { type CommandDef, defineCommand } from 'citty';
import { UsageError } from '../base/usage-error.ts';
import { type Cluster, connect } from './cluster.ts';
import { ExitError, errorLine, ReportedError } from './errors.ts';
import { connectionFlags, Flags, type FlagTable, toArgs } from './flags.ts';
import type { Io } from './io.ts';

export interface VerbContext {
  readonly io: Io;
  readonly flags: Flags;
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

export function toCommand(verb: Verb | VerbGroup, io: Io): AnyCommand {
  const meta = { description: verb.about };
  if ('verbs' in verb) {
    const subCommands = Object.entries(verb.verbs).map(([name, inner]) => [name, toCommand(inner, io)]);
    // Flags of the connection may stand before the name of the inner command, too.
    const args = toArgs(connectionFlags, undefined);
    return defineCommand({ meta, args, subCommands: Object.fromEntries(subCommands) });
  }
  const table: FlagTable = { ...verb.flags, ...connectionFlags };
  return defineCommand({
    meta,
    args: toArgs(table, verb.words),
    run: ({ rawArgs }) => runVerb(verb, new Flags(table, rawArgs), io),
  });
}

async function runVerb(verb: Verb, flags: Flags, io: Io): Promise<void> {
  let cluster: Cluster | undefined;
  const whenInterrupted = verb.untilInterrupted ? 0 : interrupted;
  const report = (error: unknown) => {
    io.err(`${errorLine(error)}\n`);
    io.exitWith(1);
  };
  try {
    await verb.run({
      io,
      flags,
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

/** 128 and the number of SIGINT. */
const interrupted = 130;
