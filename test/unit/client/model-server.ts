/**
 * An API server for one kind, small enough to be obviously correct: objects, a log of changes, lists in pages
 * and watches that replay the log. It fails on request, so that a client's behavior after failures can be
 * tested.
 */
import type { ConfigMap } from '../../../src/api/core/v1/config-map.ts';
import { newExpired, newInternalError, type StatusError } from '../../../src/apimachinery/status-error.ts';

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly object: ConfigMap;
}

interface Watcher {
  send(line: string): void;
  end(error?: Error): void;
}

export class ModelServer {
  readonly objects = new Map<string, ConfigMap>();
  readonly requests: string[] = [];
  revision = 10;
  /** Changes up to this revision are compacted. */
  compacted = 10;
  /** Errors that the next requests throw, first one first. */
  readonly failures: Error[] = [];
  /** Answers for the next requests, in place of the correct ones. */
  readonly refusals: StatusError[] = [];
  /** True if expiry is sent in an ERROR event instead of the answer's status. */
  expireInStream = false;
  /** Cuts the bytes of a watch into pieces. */
  cut: (bytes: Uint8Array) => readonly Uint8Array[] = (bytes) => [bytes];
  #changes: Change[] = [];
  readonly #watchers = new Set<Watcher>();
  readonly #snapshots = new Map<string, readonly ConfigMap[]>();
  #uids = 0;

  get watching(): number {
    return this.#watchers.size;
  }

  put(name: string, namespace = 'default'): ConfigMap {
    const old = this.objects.get(`${namespace}/${name}`);
    const revision = ++this.revision;
    const object: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace,
        uid: old?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: String(revision),
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      data: { text: `é${'x'.repeat(revision % 50)}` },
    };
    this.objects.set(`${namespace}/${name}`, object);
    this.#record({ type: old ? 'MODIFIED' : 'ADDED', revision, object });
    return object;
  }

  remove(name: string, namespace = 'default'): void {
    const old = this.objects.get(`${namespace}/${name}`);
    if (!old) return;
    this.objects.delete(`${namespace}/${name}`);
    const revision = ++this.revision;
    const object = { ...old, metadata: { ...old.metadata, resourceVersion: String(revision) } };
    this.#record({ type: 'DELETED', revision, object });
  }

  compact(): void {
    this.compacted = this.revision;
    this.#changes = [];
    this.#snapshots.clear();
  }

  bookmark(): void {
    const metadata = { resourceVersion: String(this.revision), creationTimestamp: null };
    this.#sendAll(
      `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata } })}\n`,
    );
  }

  /** Sends an earlier change again. */
  repeat(pick: (count: number) => number): void {
    const change = this.#changes[pick(this.#changes.length)];
    if (change) this.#sendAll(frame(change));
  }

  /** Breaks every watch; with `half`, in the middle of an event. */
  disconnect(half = false): void {
    for (const watcher of [...this.#watchers]) {
      if (half) watcher.send('{"type":"MODIFIED","object":{"metadata":');
      watcher.end(half ? undefined : new Error('connection reset'));
    }
  }

  /** Ends every watch as its timeout does. */
  endWatches(): void {
    for (const watcher of [...this.#watchers]) watcher.end();
  }

  readonly handler = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    const failure = this.failures.shift();
    if (failure) throw failure;
    const refusal = this.refusals.shift();
    if (refusal) return statusResponse(refusal);
    return url.searchParams.has('watch') ? this.#watch(url, request.signal) : this.#list(url);
  };

  #list(url: URL): Response {
    const limit = Number(url.searchParams.get('limit') ?? 0) || Number.POSITIVE_INFINITY;
    const token = url.searchParams.get('continue');
    const [revision, start] = token ? token.split('.') : [String(this.revision), '0'];
    if (revision === undefined || start === undefined) return statusResponse(newInternalError('bad token'));
    if (!token) this.#snapshots.set(revision, [...this.objects.values()]);
    const all = this.#snapshots.get(revision);
    if (!all) return statusResponse(newExpired('the continue token is too old'));
    const items = all.slice(Number(start), Number(start) + limit);
    const next = Number(start) + items.length;
    const metadata = {
      resourceVersion: revision,
      ...(next < all.length && { continue: `${revision}.${next}` }),
    };
    return Response.json({ kind: 'ConfigMapList', apiVersion: 'v1', metadata, items });
  }

  #watch(url: URL, signal: AbortSignal): Response {
    const after = Number(url.searchParams.get('resourceVersion'));
    const expired = newExpired(`too old resource version: ${after} (${this.compacted})`);
    if (after < this.compacted) {
      if (!this.expireInStream) return statusResponse(expired);
      return new Response(`${JSON.stringify({ type: 'ERROR', object: expired.status })}\n`);
    }
    const encoder = new TextEncoder();
    const missed = this.#changes.filter((change) => change.revision > after).map(frame);
    let close: () => void = () => {};
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const watcher: Watcher = {
          send: (line) => {
            for (const piece of this.cut(encoder.encode(line))) controller.enqueue(piece);
          },
          end: (error) => {
            if (!this.#watchers.delete(watcher)) return;
            if (error) controller.error(error);
            else controller.close();
          },
        };
        close = () => this.#watchers.delete(watcher);
        this.#watchers.add(watcher);
        for (const line of missed) watcher.send(line);
      },
      cancel: () => close(),
    });
    signal.addEventListener('abort', () => close(), { once: true });
    return new Response(stream);
  }

  #record(change: Change): void {
    this.#changes.push(change);
    this.#sendAll(frame(change));
  }

  #sendAll(line: string): void {
    for (const watcher of this.#watchers) watcher.send(line);
  }
}

const frame = ({ type, object }: Change) => `${JSON.stringify({ type, object })}\n`;

const statusResponse = (error: StatusError) => Response.json(error.status, { status: error.status.code });
