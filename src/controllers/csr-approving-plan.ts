/** Which requests of nodes are answered without a person, and how. */
import type { CertificateSigningRequest } from '../api/certificates/v1/certificate-signing-request.ts';
import {
  isUndecided,
  kubeletClientSigner,
  kubeletServingSigner,
  remoteAddressKey,
} from '../api/certificates/v1/conditions.ts';
import type { Lease } from '../api/coordination/v1/lease.ts';
import type { Node } from '../api/core/v1/node.ts';
import { checkDns1123Subdomain } from '../apimachinery/names.ts';
import type { CertificateRequestContent } from '../base/certificate-request.ts';
import { contentChecks, nodeOfCommonName } from './csr-content-plan.ts';

export type NodeApproval = 'auto' | 'manual';

export type Decision =
  /** Not ours to decide, or decided. */
  | { readonly type: 'leave' }
  /** A machine that wants to join, and nobody has said that it may. */
  | { readonly type: 'await'; readonly node: string }
  | { readonly type: 'approve'; readonly message: string }
  | { readonly type: 'deny'; readonly reason: string; readonly message: string };

/** What a decision is made on; all objects as the cache has them. */
export interface Situation {
  readonly approval: NodeApproval;
  /** Undefined when what was asked can not be read. */
  readonly content: CertificateRequestContent | undefined;
  /** The Node that the certificate would be for. */
  readonly node: Node | undefined;
  readonly lease: Lease | undefined;
  readonly otherNodes: readonly Node[];
  /** Of the masters that live, and of the Service in front of them. */
  readonly apiAddresses: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const leave: Decision = { type: 'leave' };
const deny = (reason: string, message: string): Decision => ({ type: 'deny', reason, message });

/** The node a request's maker speaks for; `join` for the holder of a bootstrap token; undefined for others. */
function makerOf({ username = '', groups = [] }: CertificateSigningRequest['spec']) {
  if (groups.includes('system:bootstrappers') && username.startsWith('system:bootstrap:')) return 'join';
  return groups.includes('system:nodes') ? nodeOfCommonName(username) : undefined;
}

/** Whether it is a machine's first request: one without an identity of its own. */
export const isJoining = ({ spec }: CertificateSigningRequest) =>
  spec.signerName === kubeletClientSigner && makerOf(spec) === 'join';

export function decideRequest(request: CertificateSigningRequest, situation: Situation): Decision {
  const { spec } = request;
  const check = contentChecks.get(spec.signerName);
  const maker = makerOf(spec);
  const ours = spec.signerName === kubeletClientSigner || spec.signerName === kubeletServingSigner;
  if (!ours || !check || maker === undefined || !isUndecided(request)) return leave;
  const { content } = situation;
  if (!content) return deny('InvalidRequest', 'the request can not be read');
  const wrong = check(content, spec.usages);
  if (wrong) return deny('InvalidRequest', wrong);
  const name = nodeOfCommonName(content.commonName) ?? '';
  const badName = checkDns1123Subdomain(name)[0];
  if (badName) return deny('InvalidRequest', `node name ${JSON.stringify(name)}: ${badName}`);
  if (!isJoining(request) && maker !== name) {
    return deny('OtherNode', `node ${JSON.stringify(maker)} may not ask for a certificate of ${name}`);
  }
  if (spec.signerName === kubeletServingSigner)
    return decideServing(name, content, situation, remoteAddressOf(spec));
  return isJoining(request) ? decideJoining(name, situation) : decideRenewal(name, situation);
}

function decideJoining(name: string, { approval, node, lease, now }: Situation): Decision {
  const age = secondsSinceRenewal(lease, now);
  const limit = lease?.spec.leaseDurationSeconds ?? 40;
  if (age !== undefined && age < limit && !isLost(node)) {
    const message = `duplicate node name: a node ${JSON.stringify(name)} is alive (heard of ${age} s ago); choose another node-name, or, if that was this machine, delete the node (minik8s ctl delete node ${name}) or try again ${limit} s later`;
    return deny('DuplicateNodeName', message);
  }
  if (approval === 'manual') return { type: 'await', node: name };
  return { type: 'approve', message: 'Auto approving kubelet client certificate of a bootstrap token.' };
}

/** Nothing is heard of it, by the masters' clock: what its lease says may come from a clock that was ahead. */
const isLost = (node: Node | undefined) =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') ?? false;

/** By the node's own clock; a clock that is ahead counts as just now. */
function secondsSinceRenewal(lease: Lease | undefined, now: number): number | undefined {
  const renewed = Date.parse(lease?.spec.renewTime ?? '');
  return Number.isNaN(renewed) ? undefined : Math.max(0, Math.floor((now - renewed) / 1000));
}

/** Whoever took the node out does not want it back by a renewal. */
function decideRenewal(name: string, { approval, node }: Situation): Decision {
  if (approval === 'manual' && (!node || isPending(node))) return { type: 'await', node: name };
  return { type: 'approve', message: 'Auto approving self kubelet client certificate.' };
}

export const isPending = ({ status }: Node) => status?.phase === 'Pending';

/**
 * A node serves under its own name and its own addresses: those of its Node object, or, as long as it has told
 * none, those that no other node works under. Under none may it pass for the API server: no name such as
 * `kubernetes.default.svc`, and a master's address only when it asks from that very machine.
 */
function decideServing(
  name: string,
  content: CertificateRequestContent,
  { node, otherNodes, apiAddresses }: Situation,
  from: string | undefined,
): Decision {
  const own = node?.status?.addresses ?? [];
  const names = new Set([name, ...own.filter(({ type }) => isNameType(type)).map(({ address }) => address)]);
  const strangeName = content.dnsNames.find((dnsName) => !names.has(dnsName) || reserved.test(dnsName));
  if (strangeName !== undefined) {
    return deny(
      'NotItsName',
      `DNS name ${strangeName} is not of node ${name}: ask for ${[...names].join(', ')}`,
    );
  }
  const addresses = own.filter(({ type }) => !isNameType(type)).map(({ address }) => address);
  const strange = content.ipAddresses.find((ip) => addresses.length > 0 && !addresses.includes(ip));
  if (strange !== undefined) {
    const message = `address ${strange} is not of node ${name}, which has ${addresses.join(', ')}`;
    return deny('NotItsAddress', message);
  }
  for (const ip of content.ipAddresses) {
    if (apiAddresses.includes(ip) && ip !== from && !isLoopback(from)) {
      const message = `address ${ip} is of the API server, and the request comes from ${from ?? 'elsewhere'}`;
      return deny('NotItsAddress', message);
    }
    const holder = otherNodes.find((other) => isReady(other) && hasAddress(other, ip));
    if (holder) return deny('NotItsAddress', `address ${ip} is of node ${holder.metadata.name}`);
  }
  return { type: 'approve', message: 'Auto approving kubelet serving certificate.' };
}

/** Written by the server, like the rest of the user. */
const remoteAddressOf = ({ extra = {} }: CertificateSigningRequest['spec']) => extra[remoteAddressKey]?.[0];
const isLoopback = (address = '') => address === '::1' || address.startsWith('127.');
const isReady = ({ status }: Node) =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
const hasAddress = ({ status }: Node, ip: string) =>
  status?.addresses?.some(({ address }) => address === ip) ?? false;
const isNameType = (type: string) => !type.endsWith('IP');
/** What the API server and Services are called. */
const reserved = /^(localhost|kubernetes)$|^kubernetes\.default\b|\.svc(\.|$)|\.cluster\.local$/;
