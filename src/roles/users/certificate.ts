/**
 * A key and a certificate for a user. The key is made here; the certificate is requested, approved and signed
 * through the API.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { conditionsOf, decide } from '../../cli/commands/certificate-decision.ts';
import type { Cluster } from '../../cli/connection/cluster.ts';
import type { Io } from '../../cli/io.ts';
import { findResource } from '../../cli/objects/discovery.ts';
import { metadataOf, textAt } from '../../cli/objects/objects.ts';
import { makeKey, makeRequest } from '../../pki/new-request.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Timeout in milliseconds for an approved request to get its certificate: a controller signs it at once. */
const patienceMs = 60_000;

export interface UserSubject {
  readonly name: string;
  readonly groups: readonly string[];
  /** Lifetime of the certificate; undefined for the signer's default. */
  readonly seconds: number | undefined;
}

export interface UserCertificate {
  /** Key and certificate are PEM. The key has not left this process. */
  readonly key: string;
  readonly certificate: string;
}

/** Rejects with the server's StatusError, or with the reason why there is no certificate. */
export async function orderCertificate(
  cluster: Cluster,
  io: Io,
  { groups, name, seconds }: UserSubject,
): Promise<UserCertificate> {
  const key = await makeKey();
  const request = await makeRequest(key, { commonName: name, organizations: groups });
  const made = await cluster.send('POST', requests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'minik8s-user-' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...(seconds !== undefined && { expirationSeconds: seconds }),
    },
  });
  const { name: id } = metadataOf(made);
  const resource = findResource(await cluster.resources(), 'certificatesigningrequests.certificates.k8s.io');
  await decide(cluster, io, { resource, namespace: '', name: id }, 'approve');
  return { key, certificate: await issued(cluster, io, id) };
}

/** Waits until the request is signed, or until it has failed or timed out. */
async function issued(cluster: Cluster, io: Io, id: string): Promise<string> {
  const late = new AbortController();
  const why = `the certificate request ${id} is approved and was not signed within ${patienceMs / 1000} s: is a controller running?`;
  const timer = io.clock.after(patienceMs, () => late.abort(new Error(why)));
  try {
    for (;;) {
      const query = new URLSearchParams({ fieldSelector: `metadata.name=${id}` });
      const events = cluster.watch(`${requests}?watch=true&${query}`, { until: late.signal });
      for await (const { type, object } of events) {
        if (type === 'DELETED') throw new Error(`the certificate request ${id} was deleted`);
        const certificate = certificateOf(object, id);
        if (certificate !== undefined) return certificate;
      }
      late.signal.throwIfAborted();
    }
  } finally {
    timer.cancel();
  }
}

/** Returns undefined while the request is not signed. Throws for a request that was denied or has failed. */
function certificateOf(request: JsonObject, id: string): string | undefined {
  const bad = conditionsOf(request).find(({ type }) => type === 'Failed' || type === 'Denied');
  if (bad) throw new Error(`the certificate request ${id} got no certificate: ${textAt(bad, 'message')}`);
  const certificate = textAt(request, 'status', 'certificate');
  return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString('utf8');
}
