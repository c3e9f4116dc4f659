/**
 * One page of a collection, consistent at one revision. The first page comes from the watch cache; later
 * pages and exact revisions come from the store's history. `continue` tokens are opaque to clients and safe
 * to forge: they name a revision and a key under the prefix that the request is authorized for.
 */
import type { ListQuery } from '../../apimachinery/list-options.ts';
import { newBadRequest, newExpired, StatusError } from '../../apimachinery/status-error.ts';
import type { CachedObject } from '../../storage/cache.ts';
import { CompactedError, type StoredValue } from '../../storage/store.ts';
import { waitForNow, waitForRevision } from '../reads/freshness.ts';
import type { Selection } from '../reads/selection.ts';
import type { RequestScope } from '../request/request-scope.ts';
import type { ServerContext } from '../server-context.ts';
import { type StoredObject, storedObject } from '../stored-object.ts';
import { fewItems, Turn } from '../turns.ts';

export interface Page {
  readonly items: readonly StoredObject[];
  readonly revision: number;
  /** '' on the last page. */
  readonly continue: string;
  readonly remaining: number | undefined;
}

interface ContinueToken {
  /**
   * Revision of the list. Absent: continue at the latest revision, because the revision that the list began
   * with is compacted.
   */
  readonly rv?: number;
  /** Last delivered key, without the prefix. */
  readonly after: string;
}

const encodeToken = (token: ContinueToken) => Buffer.from(JSON.stringify(token)).toString('base64url');

function decodeToken(text: string): ContinueToken {
  try {
    const { after, rv } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Partial<ContinueToken>;
    if (typeof after === 'string') {
      if (rv === undefined) return { after };
      if (Number.isSafeInteger(rv) && rv > 0) return { after, rv };
    }
  } catch {
    // Every invalid token gets the same answer.
  }
  throw newBadRequest(
    'continue key is not valid: use the token of the previous page unchanged, or start a new list',
  );
}

/** The request that reads: it ends when the signal aborts, and steps aside while it waits for a program. */
type Reader = Pick<RequestScope, 'aside' | 'signal'>;

/** Resolves to a page of objects in the version of the selection. */
export async function readPage(
  server: ServerContext,
  selection: Selection,
  query: ListQuery,
  reader: Reader,
): Promise<Page> {
  const page = await storedPage(server, selection, query, reader);
  return { ...page, items: await inVersion(server, selection, page.items, reader.aside) };
}

/** Returns selected objects in the version of the selection. */
export const inVersion = async <T extends StoredObject>(
  { versionReader }: ServerContext,
  { definition, readsObjects }: Selection,
  items: readonly T[],
  aside: Reader['aside'],
): Promise<readonly T[]> => (readsObjects ? items : versionReader.read(definition, items, aside));

/** Resolves to a page of objects as `matchingObjects` returns them. */
async function storedPage(
  server: ServerContext,
  selection: Selection,
  query: ListQuery,
  reader: Reader,
): Promise<Page> {
  const { signal } = reader;
  if (query.continue) {
    if (query.resourceVersion)
      throw newBadRequest('specifying resource version is not allowed when using continue');
    const token = decodeToken(query.continue);
    if (token.rv !== undefined) await waitForRevision(server, token.rv, { signal });
    const start: PastPage = {
      after: `${selection.prefix}${token.after}`,
      revision: token.rv,
      limit: query.limit,
    };
    return withExpiry(() => pageFromStore(server, selection, start, reader), token);
  }
  if (query.resourceVersionMatch === 'Exact' && query.resourceVersion !== undefined) {
    const revision = query.resourceVersion;
    await waitForRevision(server, revision, { signal });
    const start: PastPage = { after: undefined, revision, limit: query.limit };
    return withExpiry(() => pageFromStore(server, selection, start, reader), undefined);
  }
  if (query.resourceVersion === undefined) await waitForNow(server, { signal });
  else await waitForRevision(server, query.resourceVersion, { signal });
  return pageFromCache(server, selection, query, reader);
}

export interface Matching {
  readonly items: readonly CachedObject[];
  readonly revision: number;
}

/**
 * Returns the objects in the cache that match the selection, consistent at one revision; stops after `most`
 * matches. A selection that reads objects returns them in its version, another one as they are stored
 * (`inVersion`).
 */
export async function matchingObjects(
  server: ServerContext,
  selection: Selection,
  { aside, signal }: Reader,
  most = Number.POSITIVE_INFINITY,
): Promise<Matching> {
  // The list is read at once; later changes do not modify these objects.
  const { revision } = server.cache;
  const all = candidates(server, selection);
  if (selection.everything) return { items: all, revision };
  const shown = selection.readsObjects
    ? await server.versionReader.read(selection.definition, all, aside)
    : all;
  return { items: await matchingOf(server, selection, shown, { most, signal }), revision };
}

/** Works in turns, because a selector may have to parse every object. */
async function matchingOf(
  { turns }: ServerContext,
  selection: Selection,
  all: readonly CachedObject[],
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<CachedObject[]> {
  const items: CachedObject[] = [];
  let turn = new Turn();
  if (all.length > fewItems) await turns.next(signal);
  for (const item of all) {
    if (selection.matches(item)) items.push(item);
    if (items.length >= most) break;
    if (!turn.took(item.bytes.length)) continue;
    await turns.next(signal);
    turn = new Turn();
  }
  return items;
}

/** Returns the objects that may match, in key order. */
function candidates({ cache }: ServerContext, selection: Selection): readonly CachedObject[] {
  const { prefix, key, indexed } = selection;
  if (key !== undefined) {
    const only = cache.get(key);
    return only ? [only] : [];
  }
  if (!indexed) return cache.list(prefix);
  const found = cache.index(indexed.index).get(indexed.key);
  return found.filter((one) => one.key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function pageFromCache(
  server: ServerContext,
  selection: Selection,
  query: ListQuery,
  reader: Reader,
): Promise<Page> {
  // Upstream ignores the limit of a list at resourceVersion 0, and informers rely on it.
  const limit = query.resourceVersion === 0 ? 0 : query.limit;
  const { items: matching, revision } = await matchingObjects(
    server,
    selection,
    reader,
    limit > 0 ? limit + 1 : undefined,
  );
  if (limit === 0 || matching.length <= limit) {
    return { items: matching, revision, continue: '', remaining: undefined };
  }
  const items = matching.slice(0, limit);
  return {
    items,
    revision,
    continue: tokenAfter(selection, items.at(-1)?.key ?? '', revision),
    remaining: remainingOf(selection, matching.length - limit),
  };
}

const tokenAfter = (selection: Selection, key: string, rv: number) =>
  encodeToken({ rv, after: key.slice(selection.prefix.length) });

interface PastPage {
  readonly after: string | undefined;
  /** Undefined means the latest. */
  readonly revision: number | undefined;
  /** 0 means no limit. */
  readonly limit: number;
}

/** Number of values to read at once if a selector decides which of them count. */
const batchSize = 500;

async function pageFromStore(
  server: ServerContext,
  selection: Selection,
  page: PastPage,
  reader: Reader,
): Promise<Page> {
  const { limit } = page;
  const items: StoredObject[] = [];
  let { after, revision } = page;
  for (;;) {
    const batch = await server.store.list(selection.prefix, {
      limit: batchLimit(limit, selection),
      ...startOf(after, revision),
    });
    revision ??= batch.revision;
    const stored = await candidatesOf(server, selection, batch.items, reader);
    const { signal } = reader;
    const used = await takeMatching({ turns: server.turns, signal, limit, selection }, items, stored);
    after = batch.items[used - 1]?.key;
    const left = batch.items.length - used;
    if (!batch.more && left === 0) return { items, revision, continue: '', remaining: undefined };
    if (after === undefined || isFull(items, limit)) {
      return {
        items,
        revision,
        continue: tokenAfter(selection, after ?? '', revision),
        remaining: remainingOf(selection, batch.remaining),
      };
    }
  }
}

const startOf = (after: string | undefined, revision: number | undefined) => ({
  ...(after !== undefined && { startAfter: after }),
  ...(revision !== undefined && { revision }),
});

/** Returns the number of objects after the page; undefined with a selector, as upstream. */
const remainingOf = <T extends number | undefined>({ everything }: Selection, count: T) =>
  everything ? count : undefined;

const isFull = (items: readonly StoredObject[], limit: number) => limit > 0 && items.length === limit;

function batchLimit(limit: number, selection: Selection): number {
  if (limit === 0) return batchSize;
  return selection.everything ? limit : Math.max(limit, batchSize);
}

/** Returns stored values as objects, in the version of the selection if it reads them. */
async function candidatesOf(
  { versionReader }: ServerContext,
  { definition, readsObjects }: Selection,
  values: readonly StoredValue[],
  { aside }: Reader,
): Promise<readonly StoredObject[]> {
  const objects = values.map(storedObject);
  return readsObjects ? versionReader.read(definition, objects, aside) : objects;
}

interface Taking extends Pick<ServerContext, 'turns'>, Pick<PastPage, 'limit'> {
  readonly signal: AbortSignal;
  readonly selection: Selection;
}

/** Appends matches until the page is full; returns how many of `stored` were examined. */
async function takeMatching(
  { turns, signal, limit, selection }: Taking,
  items: StoredObject[],
  stored: readonly StoredObject[],
): Promise<number> {
  let turn = new Turn();
  for (const [index, item] of stored.entries()) {
    if (selection.matches(item)) items.push(item);
    if (isFull(items, limit)) return index + 1;
    if (selection.everything || !turn.took(item.bytes.length)) continue;
    await turns.next(signal);
    turn = new Turn();
  }
  return stored.length;
}

const startAgain =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
  'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
  'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
  'modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/**
 * Answers 410 for compacted history. The answer to a continued list has a token that continues at the latest
 * revision.
 */
async function withExpiry(read: () => Promise<Page>, token: ContinueToken | undefined): Promise<Page> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (!token) throw newExpired('The resourceVersion for the provided list is too old.');
    const { status } = newExpired(startAgain);
    const metadata = { continue: encodeToken({ after: token.after }) } as unknown as Record<string, never>;
    throw new StatusError({ ...status, metadata });
  }
}
