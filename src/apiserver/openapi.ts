/**
 * `/openapi/v2` and `/openapi/v3`. A document is built on its first request, and on the first request after
 * one of its kinds was added or removed, in many short turns, and then cached as bytes: kubectl reads them
 * before it writes, and most processes that run a server never receive such a request.
 */
import { createHash } from 'node:crypto';
import type { Kinds } from '../apimachinery/kind-set.ts';
import {
  type DocumentSteps,
  jsonPieces,
  type OpenApiSource,
  openApiPath,
  openApiV2Document,
  openApiV3Document,
  openApiV3Index,
} from '../apimachinery/openapi.ts';
import { encodeOpenApiV2, openApiV2ProtoType } from '../apimachinery/openapi-proto.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import type { DelegatedDescription, Delegation } from './delegation.ts';
import { parseAccept } from './negotiation/accept.ts';
import { withDelegated } from './openapi-merge.ts';
import type { ApiServerOptions } from './options.ts';
import { type Headers, jsonType, respond } from './respond.ts';
import { Turn, type Turns } from './turns.ts';

/** Kinds of this server, and descriptions of other servers. */
type Sources = readonly (ResourceDefinition | DelegatedDescription)[];

interface Document {
  readonly body: Uint8Array;
  readonly hash: string;
}

function document(body: Uint8Array): Document {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 32).toUpperCase();
  return { body, hash };
}

type Pauses = Pick<Turns, 'next'>;

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

/** Runs all steps and resolves to their result; other work of the process runs between them. */
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

type Tables = Pick<ApiServerOptions, 'fieldDocs' | 'fields'>;

type Described = Pick<Delegation, 'descriptions'>;

/** A document, and the kinds and the documents of other servers from which it was made. */
interface Made {
  readonly of: Sources;
  readonly document: Promise<Document>;
}

/**
 * Returns a handler of the paths below `/openapi`, which returns undefined for a path that does not exist.
 */
export function createOpenApi(
  kinds: Pick<Kinds, 'all'>,
  { clock, ...tables }: Pick<ApiServerOptions, 'clock'> & Tables,
  turns: Pauses,
  delegation: Described = { descriptions: [] },
): (request: Request) => Promise<Response | undefined> {
  const documents = new Documents(kinds, tables, turns, delegation);
  return async (request) => {
    const url = new URL(request.url);
    const { pathname } = url;
    if (pathname === '/openapi/v2') return respondV2(documents, request);
    if (pathname === '/openapi/v3') return cacheable(request, await documents.index(), jsonType);
    if (!pathname.startsWith('/openapi/v3/')) return undefined;
    const found = await documents.v3(pathname.slice('/openapi/v3/'.length));
    return found && respondV3(request, url, found, clock.now());
  };
}

/**
 * The documents of the current kinds. Each is made when it is first requested, and again when its own kinds
 * have changed: one more custom kind costs the document of its group and version.
 */
class Documents {
  readonly #kinds: Pick<Kinds, 'all'>;
  readonly #tables: Tables;
  readonly #turns: Pauses;
  readonly #delegation: Described;
  /** Documents of version 3 by group and version, such as `apis/apps/v1`. */
  readonly #v3 = new Map<string, Made>();
  /** Documents about all kinds, by name. */
  readonly #whole = new Map<string, Made>();

  constructor(kinds: Pick<Kinds, 'all'>, tables: Tables, turns: Pauses, delegation: Described) {
    this.#kinds = kinds;
    this.#tables = tables;
    this.#turns = turns;
    this.#delegation = delegation;
  }

  /** Returns the kinds that this server describes: not those of a version that another server has. */
  get #own(): readonly ResourceDefinition[] {
    const { descriptions } = this.#delegation;
    const { all } = this.#kinds;
    if (descriptions.length === 0) return all;
    const paths = new Set(descriptions.map(openApiPath));
    return all.filter((kind) => !paths.has(openApiPath(kind)));
  }

  /** Returns the document of version 2, as JSON or as protobuf. */
  v2(form: 'json' | 'protobuf'): Promise<Document> {
    const all = this.#own;
    const { descriptions } = this.#delegation;
    return made(this.#whole, form, [...all, ...descriptions], async () => {
      const own = await inPieces(openApiV2Document(await this.#source(all)), this.#turns);
      const v2 = await inPieces(withDelegated(own, descriptions), this.#turns);
      await this.#turns.next();
      return form === 'json'
        ? inPieces(json(v2), this.#turns)
        : inPieces(encodeOpenApiV2(v2), this.#turns, protoCost);
    });
  }

  /** Returns the list of the documents of version 3. */
  index(): Promise<Document> {
    const all = this.#own;
    const { descriptions } = this.#delegation;
    return made(this.#whole, 'index', [...all, ...descriptions], async () => {
      const byPath = byDocument(all);
      const others = descriptions.flatMap((one) => (one.v3 ? [{ path: openApiPath(one), one }] : []));
      const known = new Set([...byPath.keys(), ...others.map(({ path }) => path)]);
      for (const path of this.#v3.keys()) if (!known.has(path)) this.#v3.delete(path);
      const source = await this.#source(all);
      const hashes: { path: string; hash: string }[] = [];
      for (const [path, of] of byPath) {
        const { hash } = await this.#document(path, of, async () => source);
        hashes.push({ path, hash });
      }
      for (const { path, one } of others)
        hashes.push({ path, hash: (await this.#delegated(path, one)).hash });
      return Buffer.from(JSON.stringify(openApiV3Index(hashes)));
    });
  }

  /** Returns a document of version 3; undefined if no kind is served there. */
  async v3(path: string): Promise<Document | undefined> {
    const other = this.#delegation.descriptions.find((one) => openApiPath(one) === path);
    if (other) return other.v3 && this.#delegated(path, other);
    const of = byDocument(this.#kinds.all).get(path);
    return of && this.#document(path, of, () => this.#source(of));
  }

  #delegated(path: string, one: DelegatedDescription): Promise<Document> {
    return made(this.#v3, path, [one], async () => one.v3 ?? new Uint8Array());
  }

  #document(
    path: string,
    of: readonly ResourceDefinition[],
    source: () => Promise<OpenApiSource>,
  ): Promise<Document> {
    return made(this.#v3, path, of, async () => {
      await this.#turns.next();
      const steps = openApiV3Document({ ...(await source()), definitions: of }, path);
      const described = await inPieces(steps, this.#turns);
      return inPieces(json(described ?? {}), this.#turns);
    });
  }

  async #source(definitions: readonly ResourceDefinition[]): Promise<OpenApiSource> {
    const { fields, fieldDocs } = this.#tables;
    return { definitions, fields, docs: await fieldDocs(), version: 'v1.32.0' };
  }
}

/** Returns the kinds by the document that describes them. */
const byDocument = (all: readonly ResourceDefinition[]) => Map.groupBy(all, openApiPath);

/** Returns the document of these kinds, made once; a failed one is made again at the next request. */
function made(
  documents: Map<string, Made>,
  name: string,
  of: Sources,
  make: () => Promise<Uint8Array>,
): Promise<Document> {
  const known = documents.get(name);
  if (known && isSame(known.of, of)) return known.document;
  const entry: Made = { of, document: make().then(document) };
  documents.set(name, entry);
  entry.document.catch(() => {
    if (documents.get(name) === entry) documents.delete(name);
  });
  return entry.document;
}

const isSame = (a: Sources, b: Sources): boolean =>
  a === b || (a.length === b.length && a.every((kind, index) => kind === b[index]));

/**
 * Answers `/openapi/v2`. kubectl up to 1.28 can only read protobuf, and requests it with an `@` in the
 * place of a dot in the type.
 */
async function respondV2(documents: Documents, request: Request): Promise<Response> {
  const ranges = parseAccept(request.headers.get('accept') ?? '');
  const first = ranges.find(
    ({ type }) => type === '*/*' || type === 'application/json' || type.includes('proto-openapi'),
  );
  if (first?.type.includes('proto-openapi')) {
    return cacheable(request, await documents.v2('protobuf'), { 'content-type': openApiV2ProtoType });
  }
  return cacheable(request, await documents.v2('json'), jsonType);
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
