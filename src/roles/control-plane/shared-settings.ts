/**
 * Settings that masters on one etcd must have alike: with two ideas of which addresses Services have, each would
 * refuse, or hand out, what the other does not. The first master writes its own, and another that differs is refused.
 */
import { KeyExistsError, type Store } from '../../storage/store.ts';
import type { Settings } from '../settings/settings.ts';

export const settingsKey = '/cluster/settings';

const shared = ['service-cidr', 'cluster-cidr', 'node-ports', 'cluster-dns', 'cluster-domain'] as const;

export type SharedSettings = Settings<(typeof shared)[number]>;

/** Rejects in one line with the flags that are not as the other masters have them. */
export async function agreeOnSettings(store: Store, settings: SharedSettings): Promise<void> {
  const own = JSON.stringify(Object.fromEntries(shared.map((name) => [name, settings[name] ?? null])));
  const theirs = parse((await read(store)) ?? (await offer(store, own)));
  const mine = parse(own);
  const different = shared.filter((name) => name in theirs && !isSame(theirs[name], mine[name]));
  if (different.length === 0) return;
  const flags = different.map((name) => `--${name} ${flagOf(theirs[name])} (here ${flagOf(mine[name])})`);
  throw new Error(
    `the masters on this etcd run with ${flags.join(', ')}: use the same flags; to change them for the cluster, stop all masters and delete ${settingsKey} from etcd`,
  );
}

async function read(store: Store): Promise<string | undefined> {
  return (await store.get(settingsKey))?.value.toString();
}

/** Resolves to what is there afterwards: another master may have been faster. */
async function offer(store: Store, own: string): Promise<string> {
  try {
    await store.create(settingsKey, Buffer.from(own));
    return own;
  } catch (error) {
    if (!(error instanceof KeyExistsError)) throw error;
    return (await read(store)) ?? own;
  }
}

function parse(text: string): Record<string, unknown> {
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

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** As the flag is written. */
const flagOf = (value: unknown) =>
  value === null || value === undefined ? 'unset' : Array.isArray(value) ? value.join('-') : String(value);
