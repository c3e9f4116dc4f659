/** An API server with a service account, and requests that carry a bearer token. */
import assert from 'node:assert/strict';
import type { TokenRequest } from '../../../src/api/authentication/v1/token-request.ts';
import type { UserInfo } from '../../../src/api/authentication/v1/types.gen.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import {
  type CallOptions,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../fixtures/api-server.ts';

export const inDefault = '/api/v1/namespaces/default';
const reviews = '/apis/authentication.k8s.io/v1';

export interface AccountWorld {
  readonly server: TestServer;
  /** Creates an object as an administrator and returns the created object. */
  make(collection: string, object: object): Promise<KubeObject>;
  /** Returns a token of the account `app`, or of the named account. */
  token(spec?: object, account?: string): Promise<string>;
  request(spec: object, account?: string, options?: CallOptions): ReturnType<TestServer['call']>;
  /** Returns the user that the server authenticates; undefined for 401. */
  whoIs(authorization: string): Promise<UserInfo | undefined>;
  /** Returns the status of a TokenReview of the token. */
  review(token: string, audiences?: readonly string[]): Promise<Review>;
}

export interface Review {
  readonly authenticated?: boolean;
  readonly user?: UserInfo;
  readonly audiences?: string[];
  readonly error?: string;
}

/** Starts the server with the pod `p1` of the account `app`; the pod is bound to the node `n1`. */
export async function startAccountWorld(options: TestServerOptions = {}): Promise<AccountWorld> {
  const issuer = { keyAgeMs: 365 * 24 * 3_600_000, ...options.issuer };
  const server = await startTestServer({ ...options, issuer });
  const make: AccountWorld['make'] = async (collection, object) => {
    const answer = await server.call('POST', collection, object);
    assert.equal(answer.status, 201, answer.text);
    return answer.json();
  };
  const request: AccountWorld['request'] = (spec, account = 'app', call) =>
    server.call('POST', `${inDefault}/serviceaccounts/${account}/token`, { spec }, call);
  await make(`${inDefault}/serviceaccounts`, { metadata: { name: 'app' } });
  await make('/api/v1/nodes', { metadata: { name: 'n1' } });
  await make(`${inDefault}/pods`, podOf('p1', 'n1'));
  return {
    server,
    make,
    request,
    async token(spec = {}, account) {
      const answer = await request(spec, account);
      assert.equal(answer.status, 201, answer.text);
      return answer.json<TokenRequest>().status?.token ?? '';
    },
    async whoIs(authorization) {
      const asked = new Request(`https://apiserver${reviews}/selfsubjectreviews`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{}',
      });
      const answer = await server.app.fetch(asked, {});
      if (answer.status === 401) return undefined;
      assert.equal(answer.status, 201, await answer.clone().text());
      return ((await answer.json()) as { status: { userInfo: UserInfo } }).status.userInfo;
    },
    async review(token, audiences) {
      const answer = await server.call('POST', `${reviews}/tokenreviews`, {
        spec: { token, ...(audiences && { audiences }) },
      });
      assert.equal(answer.status, 201, answer.text);
      return answer.json<{ status: Review }>().status;
    },
  };
}

export const podOf = (name: string, nodeName?: string, serviceAccountName = 'app') => ({
  metadata: { name },
  spec: { serviceAccountName, containers: [{ name: 'a', image: 'i' }], ...(nodeName && { nodeName }) },
});

/** Returns the claims of a token without verifying the token. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
