/**
 * Access control of the agent's server. The API server identifies tokens (TokenReview) and authorizes callers
 * (SubjectAccessReview). Answers are cached for a while, as upstream. A request for which no decision can be
 * obtained is rejected.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import PQueue from 'p-queue';
import { tokenReviewResource } from '../../api/authentication/v1/token-review.ts';
import { subjectAccessReviewResource } from '../../api/authorization/v1/subject-access-review.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { holderOf } from '../../formats/certificate-names.ts';
import { RequestError } from './plan/log-request.ts';
import { requestAttributes } from './plan/request-attributes.ts';
import type { FileRequest } from './served-files.ts';

export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string | undefined;
  readonly extra?: Record<string, string[]> | undefined;
}

/** The API client for reviews. */
export type Reviewer = Pick<Client, 'resource'>;

export interface AccessOptions {
  readonly client: Reviewer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
}

const allowedMs = 5 * 60_000;
const deniedMs = 30_000;
const tokenMs = 2 * 60_000;
const badTokenMs = 10_000;
/** Maximum number of cached answers. */
const maxKept = 4096;
/**
 * Maximum numbers of reviews in progress and of waiting reviews. Any client that can reach the port can cause
 * reviews.
 */
const reviewsAtOnce = 8;
const maxWaiting = 64;
const maxTokenLength = 16_384;

interface Kept<T> {
  readonly value: Promise<T>;
  /** Monotonic milliseconds; set once the answer has arrived. */
  until: number;
}

interface Attributes {
  readonly verb: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

export class Access {
  readonly #options: AccessOptions;
  readonly #tokens = new BoundedMap<Kept<Caller | undefined>>(maxKept);
  readonly #decisions = new BoundedMap<Kept<boolean>>(maxKept);
  readonly #reviews = new PQueue({ concurrency: reviewsAtOnce });

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /**
   * Throws RequestError: 401 for an unknown caller, 403 for a caller without permission, 429 and 500 when no
   * decision can be obtained. A file that a feature serves is a resource of its own, not a part of the Node.
   */
  async require(request: IncomingMessage, { pathname }: URL, file?: FileRequest): Promise<void> {
    const caller = await this.#identify(request);
    if (!caller) throw new RequestError(401, 'Unauthorized');
    // Members of this group may do everything. The API server itself is a member, and must have access also
    // while it is too busy for reviews.
    if (caller.groups.includes('system:masters')) return;
    if (file) return this.#requireFile(caller, request.method ?? '', file);
    const { verb, subresources } = requestAttributes(
      request.method ?? '',
      pathname,
      request.headers.upgrade !== undefined,
    );
    for (const subresource of subresources) {
      const attributes = { version: 'v1', resource: 'nodes', subresource, name: this.#options.nodeName };
      if (await this.#may(caller, { verb, ...attributes })) return;
    }
    const attributes = `user=${caller.name}, verb=${verb}, resource=nodes`;
    throw new RequestError(403, `Forbidden (${attributes}, subresource(s)=[${subresources.join(' ')}])`);
  }

  async #requireFile(caller: Caller, method: string, { files, name }: FileRequest): Promise<void> {
    const { group, resource, subresource } = files.resource;
    if (method === 'GET' && (await this.#may(caller, { verb: 'get', group, resource, subresource, name })))
      return;
    const attributes = `user=${caller.name}, verb=get, resource=${resource}/${subresource}, name=${name}`;
    throw new RequestError(403, `Forbidden (${attributes})`);
  }

  async #identify(request: IncomingMessage): Promise<Caller | undefined> {
    const socket = request.socket as TLSSocket;
    // A certificate counts only when the cluster's authority has signed it.
    const holder = socket.authorized ? holderOf(socket.getPeerCertificate().raw) : undefined;
    if (holder) return { name: holder.commonName, groups: [...holder.organizations, 'system:authenticated'] };
    const [, token] = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined || token.length > maxTokenLength) return undefined;
    return this.#holder(token);
  }

  #holder(token: string): Promise<Caller | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    return this.#keep(
      this.#tokens,
      key,
      (caller) => (caller ? tokenMs : badTokenMs),
      async () => {
        const review = await this.#review('which user a token belongs to', () =>
          this.#options.client.resource(tokenReviewResource).create({
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenReview',
            metadata: {},
            spec: { token },
          }),
        );
        const { authenticated, user } = review.status ?? {};
        if (!authenticated || !user?.username) return undefined;
        return { name: user.username, groups: user.groups ?? [], uid: user.uid, extra: user.extra };
      },
    );
  }

  #may(caller: Caller, resourceAttributes: Attributes): Promise<boolean> {
    const { name: user, groups, uid, extra } = caller;
    const { verb, resource, subresource } = resourceAttributes;
    const key = JSON.stringify([user, groups, uid, extra, resourceAttributes]);
    return this.#keep(
      this.#decisions,
      key,
      (allowed) => (allowed ? allowedMs : deniedMs),
      async () => {
        const review = await this.#review(`whether ${user} may ${verb} ${resource}/${subresource}`, () =>
          this.#options.client.resource(subjectAccessReviewResource).create({
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            metadata: {},
            spec: { user, groups: [...groups], uid, extra, resourceAttributes },
          }),
        );
        return review.status?.allowed === true && review.status.denied !== true;
      },
    );
  }

  /** Runs one review at a time for each key; failures are not cached. */
  #keep<T>(
    map: BoundedMap<Kept<T>>,
    key: string,
    keptMs: (value: T) => number,
    work: () => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const known = map.get(key);
    if (known && clock.monotonic() < known.until) return known.value;
    const kept: Kept<T> = { value: work(), until: Number.POSITIVE_INFINITY };
    map.set(key, kept);
    kept.value.then(
      (value) => {
        kept.until = clock.monotonic() + keptMs(value);
      },
      () => {
        kept.until = Number.NEGATIVE_INFINITY;
      },
    );
    return kept.value;
  }

  async #review<T>(what: string, review: () => Promise<T>): Promise<T> {
    if (this.#reviews.size >= maxWaiting)
      throw new RequestError(429, 'too many requests wait for the API server');
    try {
      return await this.#reviews.add(review);
    } catch (error) {
      this.#options.log.warn('the API server cannot answer a review', { what, error: errorMessage(error) });
      throw new RequestError(500, `Authorization error: the API server cannot decide ${what}`);
    }
  }
}
