/**
 * `/openapi/v2` and `/openapi/v3`. All documents are built on the first request, and on the first request
 * after a kind was added or removed, in many short turns, and then cached as bytes: kubectl reads them before
 * it writes, and most processes that run a server never receive such a request.
 */
import { createHash } from 'node:crypto';
import type { Kinds } from '../apimachinery/kind-set.ts';
import {
  type DocumentSteps,
  jsonPieces,
  type OpenApiSource,
  openApiPaths,
  openApiV2Document,
  openApiV3Document,
  openApiV3Index,
} from '../apimachinery/openapi.ts';
import { encodeOpenApiV2, openApiV2ProtoType } from '../apimachinery/openapi-proto.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { parseAccept } from './negotiation/accept.ts';
import type { ApiServerOptions } from './options.ts';
import { type Headers, jsonType, respond } from './respond.ts';
import { Turn, type Turns } from './turns.ts';

interface Document {
  readonly body: Uint8Array;
  readonly hash: string;
}

interface Documents {
  readonly v2: Document;
  readonly v2Proto: Document;
  readonly v3Index: Document;
  /** Documents by group and version, such as `apis/apps/v1`. */
  readonly v3: ReadonlyMap<string, Document>;
}

function document(body: Uint8Array): Document {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 32).toUpperCase();
  return { body, hash };
}

type Pauses = Pick<Turns, 'next'>;

async function makeDocuments(
  definitions: readonly ResourceDefinition[],
  { fieldDocs, fields }: Pick<ApiServerOptions, 'fieldDocs' | 'fields'>,
  turns: Pauses,
): Promise<Documents> {
  const source: OpenApiSource = {
    definitions,
    fields,
    docs: await fieldDocs(),
    version: 'v1.32.0',
  };
  const v3 = new Map<string, Document>();
  for (const path of openApiPaths(definitions)) {
    await turns.next();
    const described = await inPieces(openApiV3Document(source, path), turns);
    if (described) v3.set(path, document(await inPieces(json(described), turns)));
  }
  const index = openApiV3Index([...v3].map(([path, { hash }]) => ({ path, hash })));
  await turns.next();
  const v2 = await inPieces(openApiV2Document(source), turns);
  await turns.next();
  const v2Json = document(await inPieces(json(v2), turns));
  await turns.next();
  const v2Proto = document(await inPieces(encodeOpenApiV2(v2), turns, protoCost));
  return { v2: v2Json, v2Proto, v3Index: document(Buffer.from(JSON.stringify(index))), v3 };
}

/** Encodes a document as JSON. Yields the number of bytes of each step. */
function* json(value: Parameters<typeof jsonPieces>[0]): DocumentSteps<Uint8Array> {
  const pieces: Buffer[] = [];
  for (const piece of jsonPieces(value)) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    yield bytes.length;
  }
  return Buffer.concat(pieces);
}

/** Cost of one byte of protobuf, in bytes of JSON: a message is assembled from many small arrays. */
const protoCost = 4;

/** Does all steps and resolves to their result; the other work of the process gets its turns between them. */
async function inPieces<T>(steps: DocumentSteps<T>, turns: Pauses, cost = 1): Promise<T> {
  let turn = new Turn();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (!turn.took(step.value * cost)) continue;
    await turns.next();
    turn = new Turn();
  }
}

/**
 * Returns a handler of the paths below `/openapi`, which returns undefined for a path that does not exist.
 */
export function createOpenApi(
  kinds: Pick<Kinds, 'all'>,
  { clock, ...tables }: Pick<ApiServerOptions, 'clock' | 'fieldDocs' | 'fields'>,
  turns: Pauses,
): (request: Request) => Promise<Response | undefined> {
  let made: { readonly of: Kinds['all']; readonly documents: Promise<Documents> } | undefined;
  return async (request) => {
    const url = new URL(request.url);
    if (!url.pathname.startsWith('/openapi/')) return undefined;
    if (made?.of !== kinds.all) made = { of: kinds.all, documents: makeDocuments(kinds.all, tables, turns) };
    const current = made;
    const documents = await current.documents.catch((error) => {
      if (made === current) made = undefined;
      throw error;
    });
    return answer(documents, request, url, clock.now());
  };
}

/** Returns the answer to a request for a document; undefined for a path without a document. */
function answer(documents: Documents, request: Request, url: URL, now: number): Response | undefined {
  if (url.pathname === '/openapi/v2') return respondV2(documents, request);
  if (url.pathname === '/openapi/v3') return cacheable(request, documents.v3Index, jsonType);
  const path = url.pathname.slice('/openapi/v3/'.length);
  const found = url.pathname.startsWith('/openapi/v3/') ? documents.v3.get(path) : undefined;
  return found && respondV3(request, url, found, now);
}

/**
 * Answers `/openapi/v2`. kubectl up to 1.28 can only read protobuf, and asks for it with an `@` where the
 * type of the answer has a dot.
 */
function respondV2(documents: Documents, request: Request): Response {
  const ranges = parseAccept(request.headers.get('accept') ?? '');
  const first = ranges.find(
    ({ type }) => type === '*/*' || type === 'application/json' || type.includes('proto-openapi'),
  );
  if (first?.type.includes('proto-openapi')) {
    return cacheable(request, documents.v2Proto, { 'content-type': openApiV2ProtoType });
  }
  return cacheable(request, documents.v2, jsonType);
}

const yearMs = 365 * 24 * 3600 * 1000;

/**
 * Answers a document of version 3. A document under its hash never changes, so clients cache it; an old hash
 * is redirected to the current one.
 */
function respondV3(request: Request, url: URL, found: Document, now: number): Response {
  const hash = url.searchParams.get('hash');
  if (hash === null) return cacheable(request, found, jsonType);
  if (hash !== found.hash) {
    const location = `${url.pathname}?hash=${found.hash}`;
    return respond(301, null, { location, 'cache-control': 'no-cache, private' });
  }
  return cacheable(request, found, {
    ...jsonType,
    'cache-control': 'public, immutable',
    expires: new Date(now + yearMs).toUTCString(),
  });
}

function cacheable(request: Request, { body, hash }: Document, headers: Headers): Response {
  const etag = `"${hash}"`;
  const common = { 'cache-control': 'no-cache, private', etag, vary: 'Accept', ...headers };
  if (request.headers.get('if-none-match') === etag) return respond(304, null, common);
  return respond(200, body, common);
}
