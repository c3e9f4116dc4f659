/** `ctl label` and `ctl annotate`: set and remove labels or annotations. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type DryRun, dryRunOf, dryRunSuffix, type FlagTable } from '../flags/flags.ts';
import { changeFlags, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  overwrite: { type: 'boolean', about: 'also change a value that is already set' },
  ...changeFlags,
} as const satisfies FlagTable;

type Field = 'labels' | 'annotations';

export const label = entriesVerb('labels', 'label', 'labeled');
export const annotate = entriesVerb('annotations', 'annotate', 'annotated');

function entriesVerb(field: Field, verb: string, done: string): Verb {
  return {
    about: `set KEY=VALUE or remove KEY- in the ${field} of objects`,
    words: 'TYPE NAME KEY=VALUE',
    flags: flagTable,
    async run(context) {
      const { flags, io } = context;
      const { words, changes } = splitChanges(flags.words);
      if (Object.keys(changes).length === 0)
        throw new UsageError(`ctl ${verb}: at least one KEY=VALUE or KEY- is required`);
      requireSelection(flags, words);
      const cluster = context.cluster();
      const dryRun = dryRunOf(flags);
      await forEachReported(context, await resolveObjects(context, words), async (target) => {
        const current = metadataOf(await cluster.get(targetPath(target)))[field];
        const differing = differences(current, changes, flags.on('overwrite'));
        if (Object.keys(differing).length > 0) await send(cluster, target, field, differing, dryRun);
        const outcome = outcomeOf(differing, done);
        io.out(`${kindName(target.resource)}/${target.name} ${outcome}${dryRunSuffix[dryRun]}\n`);
      });
    },
  };
}

type Changes = Readonly<Record<string, string | null>>;

/** Splits the words into names and changes. The changes come last: `a=b`, or `a-` to remove a key. */
function splitChanges(all: readonly string[]): { words: string[]; changes: Changes } {
  const isChange = (word: string) => word.includes('=') || (word.endsWith('-') && word.length > 1);
  const first = all.findIndex(isChange);
  const words = all.slice(0, first < 0 ? all.length : first);
  const changes: Record<string, string | null> = {};
  for (const word of all.slice(words.length)) {
    if (!isChange(word)) throw new UsageError(`all resources must be named before changes: ${word}`);
    const equals = word.indexOf('=');
    const key = equals < 0 ? word.slice(0, -1) : word.slice(0, equals);
    changes[key] = equals < 0 ? null : word.slice(equals + 1);
  }
  return { words: [...words], changes };
}

function differences(
  current: Readonly<Record<string, string>>,
  changes: Changes,
  overwrite: boolean,
): Changes {
  const entries = Object.entries(changes).filter(([key, value]) => (current[key] ?? null) !== value);
  for (const [key, value] of entries)
    if (!overwrite && value !== null && current[key] !== undefined)
      throw new Error(`'${key}' already has a value (${current[key]}), and --overwrite is false`);
  return Object.fromEntries(entries);
}

async function send(cluster: Cluster, target: ObjectTarget, field: Field, changes: Changes, dryRun: DryRun) {
  if (dryRun === 'client') return;
  const body: JsonObject = { metadata: { [field]: changes } };
  const options = writeQuery(dryRun);
  await cluster.send('PATCH', targetPath(target) + options, body, patchTypes.merge);
}

function outcomeOf(changes: Changes, done: string): string {
  const values = Object.values(changes);
  if (values.length === 0) return `not ${done}`;
  return values.every((value) => value === null) && done === 'labeled' ? 'unlabeled' : done;
}
