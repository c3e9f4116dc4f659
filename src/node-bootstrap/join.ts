/**
 * Joins a machine to a cluster: it finds the authority by its hash, requests a client certificate with the
 * bootstrap token and stores it. An interrupted join is continued by the next start; once the certificate is
 * stored, token and hash are no longer needed. A node whose certificate has expired requests the next one
 * with it, and joins again if it is refused and there is a token.
 */
import { X509Certificate } from 'node:crypto';
import { StatusError } from '../apimachinery/status-error.ts';
import type { Clock } from '../base/clock.ts';
import { type Current, replaceable } from '../base/current.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { UsageError } from '../base/usage-error.ts';
import { createClient } from '../client/rest-client.ts';
import type { Transport } from '../client/transport.ts';
import { certificatesOf, signerOf } from '../os/certificate-bundle.ts';
import { authorityHash } from '../pki/authority-hash.ts';
import { makeKey } from '../pki/new-request.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import { discoverAuthority } from './authority-discovery.ts';
import { RequestRefusedError, requestCertificate } from './certificate-request.ts';
import { clientOrder, expiredNodeUser, nodeUser } from './node-certificates.ts';
import type { NodeFiles } from './node-files.ts';
import { readServedAuthorities } from './served-authorities.ts';

export interface JoinOptions {
  readonly servers: readonly string[];
  readonly token: string | undefined;
  /** The prefix `sha256:` and 64 hexadecimal digits. */
  readonly hash: string | undefined;
  readonly nodeName: string;
  readonly files: NodeFiles;
  /** Returns a transport to any of the servers that shows the credentials and trusts the authority (PEM). */
  readonly connect: (authority: string, credentials: JoinCredentials) => Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly warn: (message: string) => void;
  /** Called once if a person has to approve this machine. */
  readonly onWaiting: () => void;
}

/** A bootstrap token, or the expired certificate of a node that returns. */
export type JoinCredentials = { readonly token: string } | { readonly identity: Current<KeyAndCertificate> };

export interface Membership {
  /** PEM of the cluster's authorities. */
  readonly authority: string;
  readonly client: KeyAndCertificate;
}

/** Resolves when this machine is a node; rejects with one line that has the reason why it cannot join. */
export async function joinCluster(options: JoinOptions, signal: AbortSignal): Promise<Membership> {
  const { files, log, nodeName } = options;
  await files.prepare();
  const member = await existing(options, signal);
  if (member) return member;
  const { token, hash } = options;
  if (token === undefined || hash === undefined) {
    const missing = token === undefined ? 'token' : 'ca-cert-hash';
    throw new UsageError(
      `this machine has not joined yet and no ${missing} is given; run minik8s token create on a master and put its output into the node's configuration file`,
    );
  }
  const authority = await discoverAuthority({ ...options, hash }, signal);
  await files.writeAuthority(authority);
  const { client, authority: trusted } = await firstCertificate(options, authority, token, signal);
  await files.writeAuthority(trusted);
  await files.writePair('client', client);
  await files.removeRequestKey();
  log.info('this machine has joined the cluster', { node: nodeName });
  return { authority: trusted, client };
}

/** Returns the authorities that the servers serve; the known one if the servers are of an earlier version. */
async function trustedBy(transport: Transport, authority: string, signal: AbortSignal): Promise<string> {
  return (await readServedAuthorities(transport, signal))?.trusted ?? authority;
}

/**
 * Returns the stored membership, whether or not its certificate has expired; undefined if this machine has
 * not joined. Rejects if it is one of another cluster than that with the hash, or under another name.
 */
export async function storedMembership({
  files,
  hash,
  nodeName,
}: Pick<JoinOptions, 'files' | 'hash' | 'nodeName'>): Promise<Membership | undefined> {
  const [authority, client] = await Promise.all([files.authority(), files.pair('client')]);
  if (authority === undefined || client === undefined) return undefined;
  const leave = `run minik8s reset to leave that cluster, or correct`;
  const known = authorityHash(authority);
  const authorities = certificatesOf(authority).map((one) => authorityHash(one.toString()));
  if (hash !== undefined && ![...authorities, ...(await files.formerAuthorities())].includes(hash)) {
    throw new Error(`this machine belongs to the cluster with ca-cert-hash ${known}; ${leave} ca-cert-hash`);
  }
  const certificate = new X509Certificate(client.certificate);
  const user = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
  if (user !== nodeUser(nodeName)) {
    const joined = user.slice(nodeUser('').length);
    throw new Error(`this machine joined its cluster as ${joined}, not ${nodeName}; ${leave} node-name`);
  }
  return { authority, client };
}

/**
 * Returns the stored membership, with another certificate if the stored one has expired; undefined if this
 * machine has not joined, or if its expired certificate is refused and a token allows a new join.
 */
async function existing(options: JoinOptions, signal: AbortSignal): Promise<Membership | undefined> {
  const stored = await storedMembership(options);
  if (!stored) return undefined;
  const { authority, client } = stored;
  const certificate = new X509Certificate(client.certificate);
  if (!signerOf(certificate, authority)) return undefined;
  if (certificate.validToDate.getTime() > options.clock.now()) return { authority, client };
  return returning(options, { authority, client }, signal);
}

/**
 * Requests the next certificate with the expired one, which the cluster accepts from a node that still exists
 * and has used no other one since. Returns undefined if the cluster refuses and there is a token.
 */
async function returning(
  options: JoinOptions,
  { authority, client }: Membership,
  signal: AbortSignal,
): Promise<Membership | undefined> {
  const { files, nodeName, token, clock, random, log } = options;
  // Finds a wrong clock first, which makes every certificate look expired.
  await discoverAuthority({ ...options, hash: authorityHash(authority) }, signal);
  const end = new X509Certificate(client.certificate).validToDate.toISOString();
  const key = await makeKey();
  const transport = options.connect(authority, { identity: replaceable(client) });
  const context = { client: createClient(transport, { clock, random }), clock, random, log };
  try {
    const trusted = await trustedBy(transport, authority, signal);
    const order = { ...clientOrder(nodeName, key), requester: expiredNodeUser(nodeName) };
    const certificate = await requestCertificate({ ...context, authority: trusted }, order, signal);
    const next = { key, certificate };
    await files.writeAuthority(trusted);
    await files.writePair('client', next);
    log.info('the certificate of this node had expired and was renewed', { node: nodeName, expired: end });
    return { authority: trusted, client: next };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const why = errorMessage(error);
    log.warn('the cluster does not renew the expired certificate of this node', { node: nodeName, why });
    if (token !== undefined) return undefined;
    throw new Error(
      `the certificate of this node expired ${end}, and the cluster does not renew it (${why}); put a new token into its configuration file (minik8s token create)`,
    );
  } finally {
    transport.close();
  }
}

const isRefusal = (error: unknown) =>
  error instanceof RequestRefusedError ||
  (error instanceof StatusError && (error.status.code === 401 || error.status.code === 403));

/** Milliseconds after which an undecided request is logged: its approval takes less than a second. */
const lateMs = 10_000;

async function firstCertificate(
  options: JoinOptions,
  authority: string,
  token: string,
  signal: AbortSignal,
): Promise<Membership> {
  const { files, nodeName, clock, random, log } = options;
  const key = (await files.requestKey()) ?? (await makeKey());
  await files.writeRequestKey(key);
  const transport = options.connect(authority, { token });
  const late = clock.after(lateMs, () =>
    log.warn('the cluster has not decided yet on the certificate request of this machine', {
      node: nodeName,
    }),
  );
  let waits = false;
  const onWaiting = () => {
    late.cancel();
    if (!waits) options.onWaiting();
    waits = true;
  };
  const context = { client: createClient(transport, { clock, random }), clock, random, log, onWaiting };
  try {
    // Another token is another user, who may not read this user's request.
    const order = { ...clientOrder(nodeName, key), requester: token.slice(0, 6) };
    const trusted = await trustedBy(transport, authority, signal);
    const certificate = await requestCertificate({ ...context, authority: trusted }, order, signal);
    return { authority: trusted, client: { key, certificate } };
  } catch (error) {
    if (error instanceof RequestRefusedError) {
      await files.removeRequestKey();
      throw new Error(`the cluster refuses this machine as node ${nodeName}: ${error.message}`);
    }
    throw refusedToken(error);
  } finally {
    late.cancel();
    transport.close();
  }
}

function refusedToken(error: unknown): unknown {
  if (!(error instanceof StatusError) || error.status.code !== 401) return error;
  return new Error(
    "the token is wrong or has expired; put a new token into the node's configuration file (minik8s token create prints one)",
  );
}
