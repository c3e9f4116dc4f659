/**
 * Settings that must be the same on all masters of one etcd. Masters with different address ranges for
 * Services would reject or assign addresses differently. The first master writes its settings, and a master
 * with different ones is rejected. A setting that masters of earlier versions did not share is added by the
 * first master that has it. Settings of a feature that is switched off are not shared.
 */
import { featureOf } from '../../features/settings.ts';
import { KeyExistsError, RevisionMismatchError, type Store } from '../../storage/store.ts';
import { type SharedSettings, sharedNames as shared } from '../settings/setting-table.ts';

export const settingsKey = '/cluster/settings';

/** Values of the settings that are in force, by name. */
export type Values = Readonly<Record<string, unknown>>;

export const sharedValues = (settings: SharedSettings): Values =>
  Object.fromEntries(
    shared.filter((name) => isInForce(name, settings.features)).map((name) => [name, settings[name] ?? null]),
  );

/** Rejects with one line that lists the flags that differ from those of the other masters. */
export async function agreeOnSettings(store: Store, settings: SharedSettings): Promise<void> {
  const mine = sharedValues(settings);
  const flags = differences(await agreed(store, mine), mine);
  if (flags === undefined) return;
  throw new Error(
    `the masters on this etcd run with ${flags}: use the same flags; to change them for the cluster, stop all masters and delete ${settingsKey} from etcd`,
  );
}

/** Stores the settings of a master that was alone, in place of any others, before masters share its etcd. */
export async function publishSettings(store: Store, settings: SharedSettings): Promise<void> {
  const stored = await store.get(settingsKey);
  const isWritten = await write(store, sharedValues(settings), stored?.revision);
  if (!isWritten) throw new Error(`${settingsKey} was changed in etcd meanwhile; try again`);
}

/** Returns the flags whose values in `mine` differ from those in `theirs`; undefined if there are none. */
export function differences(theirs: Values, mine: Values): string | undefined {
  const flags = Object.keys(mine)
    .filter((name) => !isSame(theirs[name] ?? null, mine[name]))
    .map((name) => `--${name} ${flagOf(theirs[name])} (here ${flagOf(mine[name])})`);
  return flags.length === 0 ? undefined : flags.join(', ');
}

/** Returns false for a setting of a feature that is switched off. All features are on if none are named. */
function isInForce(name: string, features: SharedSettings['features']): boolean {
  const feature: string | undefined = featureOf(name);
  return feature === undefined || features === undefined || features.some((one) => one === feature);
}

/**
 * Resolves to the stored settings, with a value for each setting of this master. They may be those of another
 * master that was faster.
 */
async function agreed(store: Store, mine: Values): Promise<Values> {
  for (;;) {
    const stored = await store.get(settingsKey);
    const theirs = stored && parse(stored.value.toString());
    if (theirs && Object.keys(mine).every((name) => name in theirs)) return theirs;
    const all = { ...mine, ...theirs };
    if (await write(store, all, stored?.revision)) return all;
  }
}

/**
 * Returns false if another master has written the settings since `revision`, which is undefined if there were
 * none.
 */
async function write(store: Store, all: Values, revision: number | undefined): Promise<boolean> {
  const value = Buffer.from(JSON.stringify(all));
  try {
    if (revision === undefined) await store.create(settingsKey, value);
    else await store.update(settingsKey, value, revision);
    return true;
  } catch (error) {
    if (!(error instanceof KeyExistsError || error instanceof RevisionMismatchError)) throw error;
    return false;
  }
}

function parse(text: string): Values {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Error(
    `${settingsKey} in etcd cannot be read: delete the key, and the next master that starts writes it again`,
  );
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b));

/** The order of ranges and domains does not matter; the order of a port range's two ends does. */
const inOrder = (value: unknown) => (isTexts(value) ? value.toSorted() : value);
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Returns the value as it is written on the command line. */
function flagOf(value: unknown): string {
  if (value === null || value === undefined) return 'unset';
  if (Array.isArray(value) && value.length === 0) return 'none';
  return Array.isArray(value) ? value.join(isTexts(value) ? ',' : '-') : String(value);
}
