/**
 * The folder `peers` beside the data of the embedded etcd. It exists once the cluster may have several
 * masters: `member.json` has the identity of this member; the other files are an authority for etcd alone,
 * and the certificate of this member. Backups do not contain the folder: a restored cluster has one master.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../os/replace-file.ts';
import { type Credentials, type LeafRequest, openCredentials } from '../pki/credentials.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import type { EtcdPeers } from '../storage/etcd-process.ts';
import { isMasterName, isPeerUrl } from './member-names.ts';
import type { MemberIdentity } from './plan/member-changes.ts';

export interface OwnMember extends MemberIdentity {
  readonly name: string;
  readonly peerUrl: string;
  /** etcd's --initial-cluster. */
  readonly initialCluster: string;
}

const folderOf = (etcdDir: string) => join(etcdDir, 'peers');
const fileOf = (etcdDir: string) => join(folderOf(etcdDir), 'member.json');

/** Resolves to the member of this master; to undefined if its etcd is alone. */
export async function readOwnMember(etcdDir: string): Promise<OwnMember | undefined> {
  const path = fileOf(etcdDir);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const member = parsed(text);
  if (member) return member;
  throw new Error(
    `${path} is damaged: move ${etcdDir} away and join again with the line that minik8s token create --master prints on another master`,
  );
}

function parsed(text: string): OwnMember | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof OwnMember, unknown>> | null;
    const { name, peerUrl, initialCluster, clusterId, memberId } = value ?? {};
    const isWhole =
      [initialCluster, clusterId, memberId].every((one) => typeof one === 'string') &&
      isMasterName(name) &&
      isPeerUrl(peerUrl);
    return isWhole ? (value as OwnMember) : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the member, so that etcd starts as one that has peers. */
export async function writeOwnMember(etcdDir: string, member: OwnMember): Promise<void> {
  await replaceFile(fileOf(etcdDir), `${JSON.stringify(member, undefined, 2)}\n`, { mode: 0o600 });
}

const day = 24 * 3600 * 1000;

/**
 * Opens the credentials of etcd's peers. The authority is `given`, or else the one in the folder, or else a
 * new one. It signs only certificates of members, so that no user or node of the cluster can act as a member.
 */
export async function openPeerCredentials(
  etcdDir: string,
  now: () => number,
  given?: KeyAndCertificate,
): Promise<Credentials> {
  const { createAuthority } = await import('../pki/x509.ts');
  return openCredentials(
    folderOf(etcdDir),
    now,
    async (own) => given ?? own ?? createAuthority('minik8s etcd', now() - 3600 * 1000, now() + 3650 * day),
  );
}

/** Certificate of a member, as a server and as a client of the others. */
export const peerLeaf = ({ name, peerUrl }: Pick<OwnMember, 'name' | 'peerUrl'>): LeafRequest => ({
  file: 'peer',
  commonName: `etcd:${name}`,
  hosts: [hostOf(peerUrl)],
  usages: ['client', 'server'],
});

const hostOf = (url: string) => new URL(url).hostname.replace(/^\[|\]$/g, '');

/** Returns the settings of the etcd of this member. */
export function etcdPeersOf(etcdDir: string, { name, peerUrl, initialCluster }: OwnMember): EtcdPeers {
  const file = (ending: string) => join(folderOf(etcdDir), ending);
  const files = { ca: file('ca.crt'), cert: file('peer.crt'), key: file('peer.key') };
  return { name, url: peerUrl, initialCluster, ...files };
}

/** Returns the other members that this one has seen last, with the names that etcd lists. */
export const otherMembersOf = ({
  initialCluster,
  peerUrl: ownUrl,
}: OwnMember): readonly { readonly name: string; readonly peerUrl: string }[] =>
  initialCluster.split(',').flatMap((one) => {
    const [name = '', peerUrl = ''] = one.split('=');
    const id = /\.([0-9a-f]+)$/.exec(name)?.[1];
    return id === undefined || peerUrl === ownUrl ? [] : [{ name: name.slice(0, -id.length - 1), peerUrl }];
  });
