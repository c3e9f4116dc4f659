/**
 * GET with `watch=true`: decides where the stream begins and how long it lasts (the stream itself:
 * watch-stream.ts).
 */
import type { ListQuery } from '../../apimachinery/list-options.ts';
import { newTooManyRequests } from '../load/shed.ts';
import { waitForNow, waitForRevision } from '../reads/freshness.ts';
import { type Selection, selectionOf } from '../reads/selection.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { countedName, nodeNameOf } from '../request/user.ts';
import { respond } from '../respond.ts';
import { streamOf } from '../transport/pushed-body.ts';
import { inVersion, type Matching, matchingObjects } from './page.ts';
import { watchSource } from './watch-stream.ts';

/**
 * Duration of a watch without `timeoutSeconds`: between this and twice as long, 30 to 60 minutes
 * (kube-apiserver --min-request-timeout).
 */
const minTimeoutMs = 30 * 60_000;
/**
 * Maximum duration of a node's watch, which is what its own reflectors request. Authorization is only checked
 * when a watch begins, and the node may have been removed since.
 */
const nodeTimeoutMs = 10 * 60_000;

export async function watchCollection(scope: RequestScope, query: ListQuery): Promise<Response> {
  const { server, definition, served, info, shutdown, push, user } = scope;
  const selection = selectionOf(served, info.namespace, query);
  const counted = countedName(user.name);
  server.watchSelections.check(counted, selection);
  const framing = scope.encoder.framing();
  const start = await prepareStart(scope, query);
  const { items: initial, revision: after } =
    start === 'current' ? await shownObjects(scope, selection) : { items: [], revision: start };
  // Clients take a watch that ends at once without an event for a failure, and list everything again. After
  // this error they wait, and repeat the watch.
  if (shutdown?.aborted) throw newTooManyRequests('the server is stopping', 1);
  const plan = {
    cache: server.cache,
    versionReader: server.versionReader,
    clock: server.clock,
    log: server.log,
    turns: server.turns,
    writeTurns: server.writeTurns,
    selection,
    enter: () => server.watchSelections.enter(counted, served, selection),
    framing,
    after,
    marksInitialEnd: query.sendInitialEvents === true && query.allowWatchBookmarks,
    bookmarks: query.allowWatchBookmarks,
    timeoutMs: timeoutOf(scope, query),
    shutdown,
    removal: server.kinds.removalOf(definition),
  };
  const source = watchSource(plan, initial);
  push?.(source);
  const headers = { ...scope.headers, 'content-type': framing.contentType };
  return respond(200, push ? null : streamOf(source, scope.signal, scope.hangUp), headers);
}

/** Returns the objects with which the watch begins, in the version that the client addressed. */
async function shownObjects(scope: RequestScope, selection: Selection): Promise<Matching> {
  const { items, revision } = await matchingObjects(scope.server, selection, scope);
  return { items: await inVersion(scope.server, selection, items, scope.aside), revision };
}

/**
 * Returns the revision at which the watch starts, or `current` to start with the existing objects. An absent
 * resourceVersion and 0 also mean `current`, except for WatchList without initial events.
 */
async function prepareStart(scope: RequestScope, query: ListQuery): Promise<number | 'current'> {
  const { server } = scope;
  const revision = query.resourceVersion;
  if (revision === undefined) await waitForNow(server, scope);
  else if (query.sendInitialEvents) await waitForRevision(server, revision, scope);
  if (query.sendInitialEvents) return 'current';
  if (revision) return revision;
  return query.sendInitialEvents === false ? server.cache.revision : 'current';
}

function timeoutOf({ server, user }: RequestScope, { timeoutSeconds = 0 }: ListQuery): number {
  const ms = timeoutSeconds > 0 ? timeoutSeconds * 1000 : minTimeoutMs * (1 + server.random.next());
  return nodeNameOf(user) === undefined ? ms : Math.min(ms, nodeTimeoutMs);
}
