/** A control plane over HTTPS that nodes join, with the controllers that approve and sign. */
import assert from 'node:assert/strict';
import { unionAuthenticator } from '../../../src/apiserver/authentication/authenticator.ts';
import { clientCertificateAuthenticator } from '../../../src/apiserver/authentication/client-certificate.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { NodeApproval } from '../../../src/controllers/certificates/csr-approving-plan.ts';
import { bootstrapTokenAuthenticator } from '../../../src/kube-apiserver/authentication/bootstrap-token.ts';
import { expiredNodeAuthenticator } from '../../../src/kube-apiserver/authentication/expired-node.ts';
import { authorityHash } from '../../../src/pki/authority-hash.ts';
import type { Cache } from '../../../src/storage/cache.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

export interface Rig {
  readonly server: HttpsTestServer;
  readonly cluster: Cluster;
  readonly url: string;
  readonly hash: string;
}

export async function startRig(nodeApproval: NodeApproval): Promise<Rig> {
  let cache: Cache | undefined;
  const server = await startHttpsTestServer({
    authenticate: unionAuthenticator([
      clientCertificateAuthenticator,
      expiredNodeAuthenticator(() => systemClock.now()),
      (credentials) =>
        cache && bootstrapTokenAuthenticator({ cache, now: () => systemClock.now() })(credentials),
    ]),
  });
  cache = server.cache;
  const cluster = await startCluster({ server, authority: server.authority, nodeApproval });
  const url = `https://127.0.0.1:${server.port}`;
  return { server, cluster, url, hash: authorityHash(server.authority.certificate) };
}

export const never = new AbortController().signal;

/** Asserts that joining fails with a message of one line that matches and contains no secret of a token. */
export const rejectsInOneLine = (joining: Promise<unknown>, ...says: RegExp[]) =>
  assert.rejects(joining, (error: Error) => {
    for (const expected of says) assert.match(error.message, expected);
    assert.doesNotMatch(error.message, /\n|0123456789abcdef/);
    return true;
  });
