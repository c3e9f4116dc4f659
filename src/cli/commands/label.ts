/** `ctl label` and `ctl annotate`: set and remove labels or annotations. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { applyMergePatch } from '../../apimachinery/patch-merge.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { dryRunOf, dryRunSuffix, type FlagTable } from '../flags/flags.ts';
import { changeFlags, fieldManagerOf, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  overwrite: { type: 'boolean', about: 'also change a value that is already set' },
  list: { type: 'boolean', about: 'print the entries of the objects after the change' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'in all namespaces' },
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  ...changeFlags,
} as const satisfies FlagTable;

type Field = 'labels' | 'annotations';

export const label = entriesVerb('labels', 'label', 'labeled');
export const annotate = entriesVerb('annotations', 'annotate', 'annotated');

function entriesVerb(field: Field, verb: string, done: string): Verb {
  return {
    about: `set or remove ${field} of objects`,
    group: 'Settings Commands',
    words: ['TYPE NAME... KEY=VALUE... KEY-...', 'TYPE/NAME... KEY=VALUE... KEY-...', '-f FILE KEY=VALUE...'],
    flags: flagTable,
    examples: [
      `ctl ${verb} pod web tier=front # set one of the ${field} of an object`,
      `ctl ${verb} pod web app=shop --overwrite # change one`,
      `ctl ${verb} pods --all tier- # remove one from all pods of the namespace`,
    ],
    async run(context) {
      const { flags, io } = context;
      const { words, changes } = splitChanges(flags.words);
      const lists = flags.on('list');
      if (Object.keys(changes).length === 0 && !lists)
        throw new UsageError(`ctl ${verb}: at least one KEY=VALUE or KEY- is required`);
      requireSelection(flags, words);
      const cluster = context.cluster();
      const dryRun = dryRunOf(flags);
      const format = printedFormat(flags);
      const query = writeQuery(dryRun, undefined, fieldManagerOf(flags));
      const [overwrite, isDry] = [flags.on('overwrite'), dryRun === 'client'];
      const targets = await resolveObjects(context, words);
      await forEachReported(context, targets, async (target) => {
        const after = await changed(cluster, target, { field, changes, query, overwrite, isDry });
        const line = `${kindName(target.resource)}/${target.name} ${outcomeOf(after.differing, done)}`;
        if (!lists) io.out(format?.(after.object) ?? `${line}${dryRunSuffix[dryRun]}\n`);
        else io.out(listing(target, field, after.object, targets.length > 1));
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

interface Change {
  readonly field: Field;
  readonly changes: Changes;
  readonly query: string;
  readonly overwrite: boolean;
  readonly isDry: boolean;
}

/** Sends what differs; resolves to the changed object, and the changes that made a difference. */
async function changed(
  cluster: Cluster,
  target: ObjectTarget,
  { field, changes, query, overwrite, isDry }: Change,
): Promise<{ readonly object: JsonObject; readonly differing: Changes }> {
  const before = await cluster.get(targetPath(target));
  const differing = differences(metadataOf(before)[field], changes, overwrite);
  const body: JsonObject = { metadata: { [field]: differing } };
  const object =
    isDry || Object.keys(differing).length === 0
      ? (applyMergePatch(before, body) as JsonObject)
      : await cluster.send('PATCH', targetPath(target) + query, body, patchTypes.merge);
  return { object, differing };
}

/** Returns the entries as lines, sorted by key; below a title if there are several objects. */
function listing(
  { resource, name }: ObjectTarget,
  field: Field,
  object: JsonObject,
  hasTitle: boolean,
): string {
  const entries = metadataOf(object)[field];
  const keys = Object.keys(entries).sort();
  const title = hasTitle ? `Listing ${field} for ${resource.kind}.${resource.group}/${name}:\n` : '';
  return title + keys.map((key) => `${hasTitle ? ' ' : ''}${key}=${entries[key]}\n`).join('');
}

function outcomeOf(changes: Changes, done: string): string {
  const values = Object.values(changes);
  if (values.length === 0) return `not ${done}`;
  return values.every((value) => value === null) && done === 'labeled' ? 'unlabeled' : done;
}
