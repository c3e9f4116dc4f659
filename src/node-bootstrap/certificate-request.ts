/** One certificate from the API: requested, awaited until it is approved and signed, and verified. */
import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource,
} from '../api/certificates/v1/certificate-signing-request.ts';
import { awaitsApproval } from '../api/certificates/v1/conditions.ts';
import { isAlreadyExists, isForbidden, isNotFound, StatusError } from '../apimachinery/status-error.ts';
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client, WatchEvent } from '../client/client.ts';
import { isTransportError } from '../client/transport-error.ts';
import { signerOf } from '../os/certificate-bundle.ts';
import { makeRequest, type RequestedSubject } from '../pki/new-request.ts';

export interface CertificateOrder {
  readonly signerName: string;
  /** Usages in Kubernetes' words, such as `client auth`. */
  readonly usages: readonly string[];
  readonly subject: RequestedSubject;
  /** Private key as PKCS #8, PEM. */
  readonly key: string;
  /** The requesting user: the same key requested by another user is a different request. */
  readonly requester: string;
  /** Lifetime of the certificate in seconds; the signer's default if absent. */
  readonly expirationSeconds?: number;
}

export interface RequestContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** PEM of the authorities, of which one must have signed the certificate. */
  readonly authority: string;
  /** Called whenever the request is seen to wait for approval by a person. */
  readonly onWaiting?: () => void;
}

/** The request ended without a certificate; another request with the same key would end the same way. */
export class RequestRefusedError extends Error {
  override readonly name = 'RequestRefusedError';
}

/**
 * Resolves to the certificate in PEM, however long that takes, across lost connections; a second call with
 * the same order continues the first. Rejects with RequestRefusedError if the request was denied, failed or
 * removed, and with the server's StatusError if the client is not authenticated or not authorized.
 */
export async function requestCertificate(
  context: RequestContext,
  order: CertificateOrder,
  signal: AbortSignal,
): Promise<string> {
  const { clock, log } = context;
  const name = nameOf(order);
  const request = await makeRequest(order.key, order.subject);
  const backoff = new Backoff({ initialMs: 500, maxMs: 10_000 }, context.random);
  let exists = false;
  for (;;) {
    const since = clock.now();
    // A watch ends after minutes; a watch that ends at once must not be repeated without a delay.
    const rest = async () => {
      if (clock.now() - since >= shortWatchMs) backoff.reset();
      else await sleep(clock, backoff.next(), signal);
    };
    try {
      if (!exists) await create(context.client, name, request, order);
      exists = true;
      const certificate = await issued(context, name, signal);
      if (certificate !== undefined) return checked(certificate, order, context.authority);
      await rest();
    } catch (error) {
      signal.throwIfAborted();
      if (!mayPass(error)) throw error;
      const retryMs = Math.round(backoff.next());
      log.warn('asking for a certificate failed; trying again', { error: errorMessage(error), retryMs });
      await sleep(clock, retryMs, signal);
    }
  }
}

const shortWatchMs = 1_000;

/**
 * Derives the name from the request, as upstream does, so that a second start finds the request of the first.
 */
function nameOf({
  key,
  subject,
  signerName,
  usages,
  requester,
  expirationSeconds,
}: CertificateOrder): string {
  const publicKey = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  const asked = JSON.stringify([subject, signerName, usages, requester, expirationSeconds]);
  return `node-csr-${createHash('sha256').update(publicKey).update(asked).digest('hex').slice(0, 40)}`;
}

async function create(client: Client, name: string, request: string, order: CertificateOrder): Promise<void> {
  const { signerName, usages, expirationSeconds } = order;
  try {
    await client.resource(certificateSigningRequestResource).create({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName,
        usages: [...usages],
        ...(expirationSeconds !== undefined && { expirationSeconds }),
      },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Waits for the length of one watch; resolves to undefined if the request must be read again. */
async function issued(
  { client, onWaiting }: RequestContext,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answerIn = (request: CertificateSigningRequest) => {
    if (awaitsApproval(request)) onWaiting?.();
    return answerOf(request);
  };
  const requests = client.resource(certificateSigningRequestResource);
  const current = await requests.get(name).catch((error: unknown) => {
    throw isNotFound(error) ? removed(name) : error;
  });
  const certificate = answerIn(current);
  if (certificate !== undefined) return certificate;
  const { resourceVersion } = current.metadata;
  const options = {
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: 300,
    signal,
  };
  try {
    const answer = await firstAnswer(requests.watch(options), name, answerIn);
    if (answer !== undefined) return answer;
  } catch (error) {
    // The owner of a deleted request may no longer be permitted to watch it; the next read reports that it is
    // gone.
    if (!isForbidden(error)) throw error;
  }
  signal.throwIfAborted();
  return undefined;
}

/** Returns the certificate of the first event that has one; undefined if the watch ends before. */
async function firstAnswer(
  events: AsyncIterable<WatchEvent<CertificateSigningRequest>>,
  name: string,
  answerIn: (request: CertificateSigningRequest) => string | undefined,
): Promise<string | undefined> {
  for await (const event of events) {
    if (event.type === 'DELETED') throw removed(name);
    const answer = event.type === 'BOOKMARK' ? undefined : answerIn(event.object);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

const removed = (name: string) =>
  new RequestRefusedError(`the request ${name} was deleted before it was approved or denied`);

function answerOf({ status }: CertificateSigningRequest): string | undefined {
  const refusal = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
  if (refusal) throw new RequestRefusedError(refusal.message || refusal.reason || refusal.type);
  return status?.certificate ? Buffer.from(status.certificate, 'base64').toString('utf8') : undefined;
}

/** Returns true for temporary errors: those of a server that is down or overloaded, not rejections. */
function mayPass(error: unknown): boolean {
  if (error instanceof RequestRefusedError) return false;
  if (isTransportError(error)) return error.failure !== 'tls';
  if (!(error instanceof StatusError)) return true;
  const { code } = error.status;
  return code === 410 || code === 429 || code >= 500;
}

function checked(certificate: string, { key, subject }: CertificateOrder, authority: string): string {
  const parsed = new X509Certificate(certificate);
  const rightly =
    signerOf(parsed, authority) !== undefined &&
    parsed.checkPrivateKey(createPrivateKey(key)) &&
    parsed.subject.split('\n').includes(`CN=${subject.commonName}`);
  if (!rightly) throw new RequestRefusedError('the issued certificate does not match the request');
  return certificate;
}
