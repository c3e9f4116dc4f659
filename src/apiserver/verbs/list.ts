/** GET of a collection. */
import { setImmediate } from 'node:timers/promises';
import { type ListQuery, parseListQuery } from '../../apimachinery/list-options.ts';
import type { ListMeta } from '../../apimachinery/meta.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { negotiateForm } from '../negotiation/accept.ts';
import type { RequestScope } from '../request-scope.ts';
import { jsonType, respond, respondJson } from '../respond.ts';
import { selectionOf } from '../selection.ts';
import { parseIncludeObject, partialHead, partialObject, table } from '../table.ts';
import { type Page, type PageItem, readPage } from './page.ts';
import { watchCollection } from './watch.ts';

/** Bodies up to this are sent whole, larger ones in pieces of about this, so that no list holds up the rest. */
const chunkBytes = 64 * 1024;
/**
 * The connection of a longer list is not used again. TLS keeps, for as long as a connection lasts, a buffer as large
 * as the most that ever waited on it; a reflector's next request is a watch, which would hold that for minutes.
 */
const lastOfConnectionBytes = 256 * 1024;

export async function list(scope: RequestScope): Promise<Response> {
  const query = parseListQuery(scope.query);
  return query.watch ? watchCollection(scope, query) : listCollection(scope, query);
}

async function listCollection(scope: RequestScope, query: ListQuery): Promise<Response> {
  const { server, definition, info } = scope;
  const form = negotiateForm(scope.request.headers.get('accept') ?? undefined);
  const include = parseIncludeObject(scope.query.get('includeObject'));
  const selection = selectionOf(definition, info.namespace, query);
  const page = await readPage(server, selection, query, scope.signal);
  const metadata = listMeta(page);
  switch (form.type) {
    case 'table': {
      const objects = page.items.map((item) => item.object);
      const tableForm = { definition, version: form.version, include, now: server.clock.now() };
      return respondJson(200, table(tableForm, metadata, objects), scope.headers);
    }
    case 'metadata': {
      const items = page.items.map(({ bytes }) => ({ bytes: partialObject(bytes, form.version) }));
      const { apiVersion, kind } = partialHead(form.version);
      return respondItems(JSON.stringify({ kind: `${kind}List`, apiVersion, metadata }), items, scope);
    }
    case 'object': {
      const head = { kind: `${definition.kind}List`, apiVersion: apiVersionOf(definition), metadata };
      return respondItems(JSON.stringify(head), page.items, scope);
    }
  }
}

function listMeta(page: Page): ListMeta {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue && { continue: page.continue }),
    ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
  };
}

/** `{…head…,"items":[…]}` around bytes that are already JSON. */
function respondItems(
  head: string,
  items: readonly Pick<PageItem, 'bytes'>[],
  scope: RequestScope,
): Response {
  const chunks = itemChunks(`${head.slice(0, -1)},"items":[`, items);
  const first = chunks.next();
  const second = first.done ? first : chunks.next();
  const headers = { ...scope.headers, ...jsonType };
  if (second.done) return respond(200, first.value ?? null, headers);
  const size = items.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const ready = [first.value, second.value];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = ready.shift() ?? chunks.next().value;
      if (chunk === undefined) return controller.close();
      controller.enqueue(chunk);
      await setImmediate();
    },
  });
  return respond(200, body, { ...headers, ...(size > lastOfConnectionBytes && { connection: 'close' }) });
}

const comma = Buffer.from(',');

function* itemChunks(
  opening: string,
  items: readonly Pick<PageItem, 'bytes'>[],
): Generator<Buffer, undefined> {
  let parts: Buffer[] = [Buffer.from(opening)];
  let size = 0;
  for (const [index, { bytes }] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(bytes);
    size += bytes.length;
    if (size < chunkBytes) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  parts.push(Buffer.from(']}\n'));
  yield Buffer.concat(parts);
  return undefined;
}
