/**
 * GET /metrics/objects: metrics of all objects of the watch cache, by the names of kube-state-metrics. Lines
 * are created once for a version of an object; the page is assembled from them as it is read, a little in
 * each turn of the event loop.
 */
import { Readable } from 'node:stream';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { EngineContext } from '../../apiserver/server-context.ts';
import { StreamedAnswer } from '../../apiserver/transport/streamed-answer.ts';
import { fewItems } from '../../apiserver/turns.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { expositionType, familyHead } from '../../base/metrics/exposition.ts';
import type { Cache, CachedObject } from '../../storage/cache.ts';
import type { ObjectMetrics } from './family.ts';
import { type Ends, EndsPool, KnownLines, linesOf, type ObjectLines } from './object-lines.ts';

export const objectMetricsPath = '/metrics/objects';

/** Number of characters that one turn writes. */
const pieceLength = 64 * 1024;
/** Milliseconds for which one turn may create lines. */
const turnMs = 0.4;

interface Server extends Pick<EngineContext, 'log' | 'turns'> {
  readonly cache: Pick<Cache, 'list'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class ObjectMetricsPage {
  readonly #server: Server;
  readonly #kinds: readonly ObjectMetrics[];
  readonly #pool = new EndsPool();
  readonly #known = new Map<ObjectMetrics, readonly ObjectLines[]>();

  /** The page has the kinds in the order of their plurals. */
  constructor(server: Server, kinds: readonly ObjectMetrics[]) {
    this.#server = server;
    this.#kinds = kinds.toSorted((a, b) => (a.ref.plural < b.ref.plural ? -1 : 1));
  }

  answer({ method }: Pick<Request, 'method'>): Response {
    const headers = { 'content-type': expositionType };
    if (method === 'HEAD') return new Response(null, { headers });
    const source = Readable.from(this.#pieces(), { objectMode: false, highWaterMark: pieceLength });
    return new StreamedAnswer(200, source, Object.entries(headers).flat());
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    let text = '';
    for await (const { family, place, lines } of this.#families()) {
      text += headOf(family, lines);
      for (const { labels, ends } of lines) {
        text += linesText(`${family.name}{${labels}`, ends[place]);
        if (text.length < pieceLength) continue;
        yield Buffer.from(text);
        text = '';
        await this.#server.turns.next();
      }
    }
    if (text !== '') yield Buffer.from(text);
  }

  /** Yields each family with the objects that have lines of it, which are in `ends` at `place`. */
  async *#families() {
    const { cache, turns } = this.#server;
    for (const metrics of this.#kinds) {
      await turns.next();
      const lines = await this.#linesOf(metrics, cache.list(storagePrefix(metrics.ref)));
      for (const [place, family] of metrics.families.entries()) {
        yield { family, place, lines: lines.filter(({ ends }) => ends[place] !== undefined) };
        if (lines.length > fewItems) await turns.next();
      }
    }
  }

  /** Returns the current lines of all objects of one kind, in the order of their keys. */
  async #linesOf(metrics: ObjectMetrics, objects: readonly CachedObject[]): Promise<readonly ObjectLines[]> {
    const { clock, turns } = this.#server;
    const before = new KnownLines(this.#known.get(metrics) ?? []);
    const lines: ObjectLines[] = [];
    let began = clock.monotonic();
    for (const object of objects) {
      lines.push(before.next(object) ?? this.#make(metrics, object));
      if (clock.monotonic() - began < turnMs) continue;
      await turns.next();
      began = clock.monotonic();
    }
    this.#known.set(metrics, lines);
    return lines;
  }

  #make(metrics: ObjectMetrics, object: CachedObject): ObjectLines {
    try {
      return linesOf(metrics, object, this.#pool);
    } catch (error) {
      this.#server.log.error(
        `an object cannot be read for ${objectMetricsPath} and is left out there; correct or delete it`,
        { key: object.key, error: errorMessage(error) },
      );
      return { object, labels: '', ends: [] };
    }
  }
}

/** Returns the head of a family; empty if no object has a line of it. */
const headOf = (family: ObjectMetrics['families'][number], lines: readonly ObjectLines[]) =>
  lines.length > 0 ? `${familyHead(family)}\n` : '';

function linesText(begin: string, ends: Ends): string {
  if (ends === undefined || typeof ends === 'string') return begin + (ends ?? '');
  let text = '';
  for (const end of ends) text += begin + end;
  return text;
}
