/** `minik8s logs`: the log of the minik8s of this machine, from its file or from the journal. */
import { UsageError } from '../base/usage-error.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import type { Flags, FlagTable } from '../cli/flags/flags.ts';
import type { CtlIo, Verb } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { logLevels } from '../terminal/log-levels.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { readFiles, type SourceOptions } from './own-log/file-source.ts';
import { readJournal } from './own-log/journal-source.ts';
import { findLog } from './own-log/log-place.ts';
import { printBatches } from './own-log/print.ts';
import type { Selection } from './own-log/selection.ts';
import { targetFlags, targetOf } from './running/targets.ts';

const flagTable = {
  component: {
    type: 'string',
    hint: 'PATH',
    about: 'print only this component and those below it, such as kubelet; may be repeated',
    usual: 'all',
  },
  level: {
    type: 'string',
    hint: 'LEVEL',
    about: 'the least severe level to print: error, warn, info or debug',
    usual: 'debug',
    values: logLevels,
  },
  since: {
    type: 'string',
    hint: 'TIME',
    about: 'print only lines newer than this, such as 5m or 2h',
    usual: 'all',
  },
  tail: { type: 'string', hint: 'COUNT', about: 'number of last lines to print; -1: all', usual: '-1' },
  follow: { type: 'boolean', short: 'f', about: 'print new lines as they are written, until Ctrl-C' },
  output: {
    type: 'string',
    short: 'o',
    hint: 'FORMAT',
    about: 'output format: text, or json for one JSON object per line',
    usual: 'text',
  },
  ...targetFlags,
} as const satisfies FlagTable;

const logs: Verb = {
  about: "print minik8s' own log, by component and level",
  examples: [
    'logs --tail 50 # print the last lines',
    'logs -f --level warn # follow warnings and errors',
    'logs --component scheduler --since 10m # print the lines of one component',
  ],
  flags: flagTable,
  untilInterrupted: true,
  async run({ flags, io }) {
    const selection = selectionOf(flags, io.clock.now());
    const tail = tailOf(flags);
    const place = await findLog(targetOf(flags));
    const follows = flags.on('follow');
    const options: SourceOptions = { selection, tail, follows, clock: io.clock, signal: io.signal };
    const batches =
      place.kind === 'journal' ? readJournal(place.unit, options) : readFiles(place.path, options);
    await printBatches(io, batches, selection, tail);
  },
};

function selectionOf(flags: Flags, now: number): Selection {
  const since = flags.duration('since');
  return {
    components: flags.texts('component').flatMap((text) => text.split(',')),
    level: flags.oneOf('level', logLevels) ?? 'debug',
    format: flags.oneOf('output', ['text', 'json'] as const) ?? 'text',
    ...(since !== undefined && { since: now - since }),
  };
}

function tailOf(flags: Flags): number | undefined {
  const tail = flags.whole('tail') ?? -1;
  if (tail < -1) throw new UsageError(`--tail must be -1 or more, got ${tail}`);
  return tail === -1 ? undefined : tail;
}

/** Returns advice for a word, which is probably the name of a pod: minik8s ctl prints the log of a pod. */
const elsewhere = (word: string): string | undefined =>
  word.startsWith('-')
    ? undefined
    : `minik8s logs prints minik8s' own log; did you mean minik8s ctl logs ${word}?`;

export const logsCommand = (io: CtlIo): AnyCommand =>
  ({ ...toCommand(logs, io, 'logs'), elsewhere }) as AnyCommand;

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  logsCommand(processIo({ kubernetesFields, features: noFeatures }));
