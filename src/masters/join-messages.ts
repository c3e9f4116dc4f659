/** The request of a master that joins, and the answer to it, as JSON. */
import type { KeyAndCertificate } from '../pki/x509.ts';
import { isMasterName, isPeerUrl } from './member-names.ts';
import type { AskedJoin, MemberIdentity } from './plan/member-changes.ts';

export const joinPath = '/minik8s/masters';

/** Settings that all masters have in common, by name. */
export type SharedValues = Readonly<Record<string, unknown>>;

export interface JoinRequest extends AskedJoin {
  readonly settings: SharedValues;
}

export type JoinAnswer =
  | { readonly outcome: 'is-member'; readonly initialCluster: string }
  | ({
      readonly outcome: 'added';
      readonly initialCluster: string;
      /** Authority of etcd's peers. */
      readonly authority: KeyAndCertificate;
    } & MemberIdentity);

/** Reads a request. Throws an Error whose message says what is wrong with it. */
export function readJoinRequest(text: string): JoinRequest {
  const value = objectOf(text);
  const { name, peerUrl, earlier, settings } = value;
  if (!isMasterName(name)) throw new Error('name: expected a host name in small letters');
  if (!isPeerUrl(peerUrl)) throw new Error('peerUrl: expected a URL such as https://192.0.2.10:2380');
  if (!isObject(settings)) throw new Error('settings: expected an object');
  if (earlier !== undefined && !isIdentity(earlier)) throw new Error('earlier: expected two ids');
  return { name, peerUrl, settings, ...(earlier && { earlier }) };
}

/** Reads an answer. Throws an Error for a text that is no answer of a master. */
export function readJoinAnswer(text: string): JoinAnswer {
  const { outcome, initialCluster, authority, ...ids } = objectOf(text);
  if (typeof initialCluster !== 'string') throw new Error('the answer is not one of a master');
  if (outcome === 'is-member') return { outcome, initialCluster };
  const isWhole =
    outcome === 'added' &&
    isObject(authority) &&
    typeof authority.key === 'string' &&
    typeof authority.certificate === 'string' &&
    isIdentity(ids);
  if (!isWhole) throw new Error('the answer is not one of a master');
  const { key, certificate } = authority;
  const { clusterId, memberId } = ids;
  return {
    outcome,
    initialCluster,
    authority: { key, certificate } as KeyAndCertificate,
    clusterId,
    memberId,
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('expected JSON');
  }
  if (!isObject(value)) throw new Error('expected an object');
  return value;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isIdentity = (value: unknown): value is MemberIdentity =>
  isObject(value) &&
  [value.clusterId, value.memberId].every((id) => typeof id === 'string' && /^[0-9a-f]{1,16}$/.test(id));
