/**
 * Service account tokens of the pods on this node: each is requested as the node, kept, and replaced before
 * it expires.
 */
import type { TokenRequest } from '../../api/authentication/v1/token-request.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { defaultAccount, serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { ServiceAccountTokenProjection } from '../../api/core/v1/types.gen.ts';
import { isRecord } from '../../apimachinery/equality.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import type { GivenToken } from './plan/projection.ts';
import { renewalOf } from './plan/token-life.ts';

export interface AccountTokensOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Kept extends GivenToken {
  /** Expiry in milliseconds since the epoch. */
  readonly expires: number;
}

const usualSeconds = 3600;
/** Delay between two attempts to replace a token that is still valid. */
const retryMs = 60_000;

export class AccountTokens {
  readonly #options: AccountTokensOptions;
  /** Tokens by pod uid, then by audience and lifetime. */
  readonly #kept = new Map<string, Map<string, Kept>>();

  constructor(options: AccountTokensOptions) {
    this.#options = options;
  }

  /** Returns a valid token; rejects when there is none and none can be requested. */
  async get(pod: Pod, projection: ServiceAccountTokenProjection): Promise<GivenToken> {
    const { clock, log } = this.#options;
    const { uid, name, namespace } = pod.metadata;
    const tokens = this.#kept.get(uid) ?? new Map<string, Kept>();
    this.#kept.set(uid, tokens);
    const key = JSON.stringify([projection.audience ?? '', projection.expirationSeconds ?? usualSeconds]);
    const kept = tokens.get(key);
    if (kept && clock.now() < kept.renewAt) return kept;
    try {
      const requested = await this.#request(pod, projection);
      tokens.set(key, requested);
      return requested;
    } catch (error) {
      if (!kept || kept.expires <= clock.now()) throw error;
      log.warn('the token of a pod could not be replaced; trying again in a minute', {
        pod: `${namespace}/${name}`,
        error: errorMessage(error),
      });
      return { token: kept.token, renewAt: clock.now() + retryMs };
    }
  }

  /** Removes the tokens of a pod that is no longer here. */
  forget(uid: string): void {
    this.#kept.delete(uid);
  }

  async #request(
    pod: Pod,
    { audience, expirationSeconds = usualSeconds }: ServiceAccountTokenProjection,
  ): Promise<Kept> {
    const { client, clock, random } = this.#options;
    const { name, uid, namespace = '' } = pod.metadata;
    const account = pod.spec.serviceAccountName ?? defaultAccount;
    const spec = {
      audiences: audience ? [audience] : [],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec };
    const accounts = client.resource(serviceAccountResource);
    const answer = await accounts.createSubresource(account, namespace, 'token', body);
    const { token, expirationTimestamp = '' } =
      (isRecord(answer) ? (answer as unknown as TokenRequest) : (body as never)).status ?? {};
    const expires = Date.parse(expirationTimestamp);
    if (!token || Number.isNaN(expires))
      throw new Error(`the API server answered without a token of the service account ${account}`);
    const renewAt = renewalOf(expires, expirationSeconds * 1000, random.next());
    // Without this minimum, each token would be due at once on a machine whose clock is far ahead of the
    // master's.
    return { token, expires, renewAt: Math.max(renewAt, clock.now() + retryMs) };
  }
}
