/** All objects that the user may list, ready to be searched; filled while the command palette is open. */
import { computed, effect, signal } from '@preact/signals';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { may } from '../cluster/access.ts';
import { kinds } from '../cluster/kinds.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { objectsOf } from '../cluster/resources.ts';
import { surveyed } from '../cluster/survey.ts';
import { eachInTurns } from '../cluster/turns.ts';
import { watchAll } from '../cluster/watch.ts';
import { namespace } from '../shell/scope.ts';
import { type SearchItem, searchItem } from './plan/search-item.ts';

/** Kinds that are watched as a whole: their images, addresses and messages are searched too. */
const watched = new Set([
  'pods',
  'nodes',
  'services',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'ingresses.networking.k8s.io',
  'events',
]);

/** Returns the namespace in which the user may list a kind, '' for all; undefined if there is none. */
function listScope(kind: ApiKind): string | undefined {
  if (may('list', kind)) return '';
  return kind.namespaced && namespace.value !== '' && may('list', kind, namespace.value)
    ? namespace.value
    : undefined;
}

const made = new WeakMap<KubeObject, SearchItem>();

function itemOf(kind: ApiKind, object: KubeObject): SearchItem {
  const known = made.get(object);
  if (known) return known;
  const item = searchItem(kind, object);
  made.set(object, item);
  return item;
}

const live = computed(() => {
  const items: SearchItem[] = [];
  let isComplete = true;
  for (const kind of kinds.value.filter(({ key }) => watched.has(key))) {
    const scope = listScope(kind);
    if (scope === undefined) continue;
    const { items: objects, synced } = watchAll(kind, { namespace: scope }).value;
    for (const object of objects) items.push(itemOf(kind, object));
    isComplete &&= synced;
  }
  return { items, isComplete };
});

/** The live objects whose texts have been computed, so that no search computes thousands of them at once. */
const prepared = signal<{ readonly items: readonly SearchItem[]; readonly isComplete: boolean }>({
  items: [],
  isComplete: false,
});

/** Keeps the prepared objects equal to the live ones; returns a function that ends this. */
export function followObjects(): () => void {
  let current: object | undefined;
  const end = effect(() => {
    const wanted = live.value;
    current = wanted;
    void eachInTurns(wanted.items, prepareOne, () => current === wanted).then((isDone) => {
      if (isDone) prepared.value = wanted;
    });
  });
  return () => {
    current = undefined;
    end();
  };
}

/** Reads what a search reads, so that it is computed. */
const prepareOne = ({ text, health }: SearchItem) => text.length + (health?.length ?? 0);

/** Objects of the other kinds, by their metadata, as they were when the palette was opened. */
const listed = signal<readonly SearchItem[]>([]);
let listedAt = Number.NEGATIVE_INFINITY;
/** Kinds and scopes that were listed: with other rights or kinds there is more to list. */
let listedWhat = '';
/** Time for which the listed objects are new enough. */
const freshMs = 30_000;

/** Lists the kinds that are not watched, unless that was done shortly before. */
export async function refreshListed(): Promise<void> {
  const queue = surveyed('').filter(({ key }) => !watched.has(key));
  const what = queue.map((kind) => `${kind.key} ${listScope(kind)}`).join();
  if (what === listedWhat && performance.now() - listedAt < freshMs) return;
  listedAt = performance.now();
  listedWhat = what;
  const found: SearchItem[] = [];
  const work = async () => {
    for (let kind = queue.shift(); kind; kind = queue.shift()) found.push(...(await itemsOf(kind)));
  };
  await Promise.all([work(), work(), work()]);
  if (what === listedWhat) listed.value = found;
}

/** Maximum number of objects of a kind that are listed; the table of the kind finds the others. */
const maxListed = 5_000;

async function itemsOf(kind: ApiKind): Promise<SearchItem[]> {
  const scope = listScope(kind);
  if (scope === undefined) return [];
  try {
    const { items } = await objectsOf(kind, true).list({
      ...(scope !== '' && { namespace: scope }),
      limit: maxListed,
    });
    return items.map((object) => searchItem(kind, object));
  } catch {
    // The kind is gone, or its server does not answer: its objects are not found.
    return [];
  }
}

export const searchable = computed(() => ({
  items: [...prepared.value.items, ...listed.value],
  isComplete: prepared.value.isComplete,
}));
