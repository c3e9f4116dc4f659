/** `ctl label` and `ctl annotate`: set and remove labels or annotations. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { applyMergePatch } from '../../apimachinery/patch-merge.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { dryRunOf, dryRunSuffix, type FlagTable } from '../flags/flags.ts';
import { changeFlags, fieldManagerOf, resourceVersionFlag, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { localFlag, localObjects, requireLocal } from '../local/local-objects.ts';
import { kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat, qualifiedName } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  overwrite: { type: 'boolean', about: 'also change a value that is already set' },
  list: { type: 'boolean', about: 'print the entries of the objects after the change' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'in all namespaces' },
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  ...resourceVersionFlag,
  ...changeFlags,
  ...localFlag,
} as const satisfies FlagTable;

type Field = 'labels' | 'annotations';

const oneOf = { labels: 'a label', annotations: 'an annotation' } as const;

export const label = entriesVerb('labels', 'label');
export const annotate = entriesVerb('annotations', 'annotate');

function entriesVerb(field: Field, verb: string): Verb {
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
      const { flags } = context;
      const { words, changes } = splitChanges(flags.words, oneOf[field]);
      const lists = flags.on('list');
      if (Object.keys(changes).length === 0 && !lists)
        throw new UsageError(`ctl ${verb}: at least one KEY=VALUE or KEY- is required`);
      const change: Change = { field, changes, overwrite: flags.on('overwrite') };
      const print = printer(context, change);
      if (flags.on('local')) return changeFiles(context, words, change, print);
      requireSelection(flags, words);
      const dryRun = dryRunOf(flags);
      const resourceVersion = flags.text('resource-version');
      const query = writeQuery(dryRun, undefined, fieldManagerOf(flags));
      const writing = { query, resourceVersion, isDry: dryRun === 'client' || lists };
      const targets = await resolveObjects(context, words);
      if (resourceVersion !== undefined && targets.length !== 1)
        throw new UsageError('--resource-version may only be used with a single resource');
      await forEachReported(context, targets, async (target) =>
        print(
          kindName(target.resource),
          await changed(context.cluster(), target, change, writing),
          targets.length,
        ),
      );
    },
  };
}

type Changes = Readonly<Record<string, string | null>>;

const isChange = (word: string) => word.includes('=') || (word.endsWith('-') && word.length > 1);

/** Returns the key and its value; null to remove it. */
function readChange(word: string): [key: string, value: string | null] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word.slice(0, -1), null] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Splits the words into names and changes. The changes come last: `a=b`, or `a-` to remove a key. */
function splitChanges(all: readonly string[], one: string): { words: string[]; changes: Changes } {
  const first = all.findIndex(isChange);
  const words = all.slice(0, first < 0 ? all.length : first);
  const changes = new Map<string, string | null>();
  for (const word of all.slice(words.length)) {
    if (!isChange(word)) throw new UsageError(`all resources must be named before changes: ${word}`);
    const [key, value] = readChange(word);
    if (changes.has(key) && (changes.get(key) === null) !== (value === null))
      throw new UsageError(`can not both modify and remove ${one} in the same command`);
    changes.set(key, value);
  }
  return { words: [...words], changes: Object.fromEntries(changes) };
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
  readonly overwrite: boolean;
}

interface Writing {
  readonly query: string;
  /** The version that the object must have; undefined for any. */
  readonly resourceVersion: string | undefined;
  readonly isDry: boolean;
}

/** A changed object, the changes that made a difference, and the keys to remove that it did not have. */
interface Changed {
  readonly object: JsonObject;
  readonly differing: Changes;
  readonly absent: readonly string[];
}

/** Returns the changed object as it would be sent. Throws for a value that may not be changed. */
function changedHere(before: JsonObject, { field, changes, overwrite }: Change): Changed {
  const entries = metadataOf(before)[field];
  const differing = differences(entries, changes, overwrite);
  const object = applyMergePatch(before, { metadata: { [field]: differing } }) as JsonObject;
  const removed = Object.keys(changes).filter((key) => changes[key] === null);
  return { object, differing, absent: removed.filter((key) => !Object.hasOwn(entries, key)) };
}

/** Sends the differences; resolves to the changed object. */
async function changed(
  cluster: Cluster,
  target: ObjectTarget,
  change: Change,
  { query, resourceVersion, isDry }: Writing,
): Promise<Changed> {
  const here = changedHere(await cluster.get(targetPath(target)), change);
  const hasNothing = Object.keys(here.differing).length === 0 && resourceVersion === undefined;
  if (isDry || hasNothing) return here;
  const body: JsonObject = { metadata: { [change.field]: here.differing, resourceVersion } };
  const object = await cluster.send('PATCH', targetPath(target) + query, body, patchTypes.merge);
  return { ...here, object };
}

type Print = (kind: string, changed: Changed, count: number) => void;

/** Returns the printer of changed objects: as -o says, with --list their entries, else a line for each. */
function printer({ flags, io }: VerbContext, { field }: Change): Print {
  const format = printedFormat(flags);
  const suffix = dryRunSuffix[dryRunOf(flags)];
  const isSent = dryRunOf(flags) !== 'client' && !flags.on('local') && !flags.on('list');
  return (kind, { object, differing, absent }, count) => {
    const line = `${kind}/${metadataOf(object).name} ${outcomeOf(field, differing)}${suffix}\n`;
    if (field === 'labels' && isSent)
      io.out(absent.map((key) => `label ${JSON.stringify(key)} not found.\n`).join(''));
    if (flags.on('list')) io.out(listing(field, object, count > 1));
    else {
      // The documents of label are not separated, those of annotate are, as in kubectl.
      const own = field === 'labels' ? printedFormat(flags) : format;
      io.out(own?.(object) ?? line);
    }
  };
}

/** Changes the objects of files and prints them. */
async function changeFiles(
  context: VerbContext,
  words: readonly string[],
  change: Change,
  print: Print,
): Promise<void> {
  requireLocal(
    context.flags,
    words,
    'can only use local files by -f pod.yaml or --filename=pod.json when --local=true is set',
  );
  const objects = await Array.fromAsync(localObjects(context));
  await forEachReported(context, objects, async (object) =>
    print(qualifiedName(object).replace(/\/.*/s, ''), changedHere(object, change), objects.length),
  );
}

/** Returns the entries as lines, sorted by key; below a title if there are several objects. */
function listing(field: Field, object: JsonObject, hasTitle: boolean): string {
  const { [field]: entries, name } = metadataOf(object);
  const [, group = ''] = String(object.apiVersion).split('/').reverse();
  const keys = Object.keys(entries).sort();
  const title = hasTitle ? `Listing ${field} for ${object.kind}.${group}/${name}:\n` : '';
  return title + keys.map((key) => `${hasTitle ? ' ' : ''}${key}=${entries[key]}\n`).join('');
}

/** Returns what was done, in kubectl's words: only `label` has words for no change and for a removal. */
function outcomeOf(field: Field, changes: Changes): string {
  if (field === 'annotations') return 'annotated';
  const values = Object.values(changes);
  if (values.length === 0) return 'not labeled';
  return values.every((value) => value === null) ? 'unlabeled' : 'labeled';
}
