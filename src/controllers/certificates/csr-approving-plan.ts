/** Decides which certificate requests of nodes are approved or denied automatically. */
import type { CertificateSigningRequest } from '../../api/certificates/v1/certificate-signing-request.ts';
import {
  expiredCertificateKey,
  isUndecided,
  kubeletClientSigner,
  kubeletServingSigner,
  remoteAddressKey,
} from '../../api/certificates/v1/conditions.ts';
import type { Lease } from '../../api/coordination/v1/lease.ts';
import { certificateAnnotation } from '../../api/core/v1/node/annotations.ts';
import type { Node } from '../../api/core/v1/node/node.ts';
import { checkDns1123Subdomain } from '../../apimachinery/names.ts';
import { sameAddress } from '../../base/addresses.ts';
import type { CertificateRequestContent } from '../../formats/certificate-request.ts';
import { contentChecks, nodeOfCommonName } from './csr-content-plan.ts';
import { type ClusterPlaces, judgeServing } from './csr-serving-plan.ts';

export type NodeApproval = 'auto' | 'manual';

export type Decision =
  /** The request belongs to another approver or is already decided. */
  | { readonly type: 'leave' }
  /** The machine requests to join and has not been approved. */
  | { readonly type: 'await'; readonly node: string }
  /** The names and addresses of the masters are not known yet. */
  | { readonly type: 'await-masters' }
  /** `replaced`: a line about the machine that had the name of the node before, if it was another one. */
  | { readonly type: 'approve'; readonly message: string; readonly replaced?: string }
  | { readonly type: 'deny'; readonly reason: string; readonly message: string };

/** Facts on which a decision is based; all objects are in their cached state. */
export interface Situation {
  readonly approval: NodeApproval;
  /** Undefined if the request cannot be parsed. */
  readonly content: CertificateRequestContent | undefined;
  /** Node for which the certificate would be issued. */
  readonly node: Node | undefined;
  readonly lease: Lease | undefined;
  readonly otherNodes: readonly Node[];
  readonly places: ClusterPlaces;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const leave: Decision = { type: 'leave' };
const deny = (reason: string, message: string): Decision => ({ type: 'deny', reason, message });

/** Requester: the holder of a bootstrap token, or a node for itself, whose certificate may have expired. */
interface Maker {
  readonly joins: boolean;
  readonly returns: boolean;
  /** Name of the node; undefined for the holder of a token, which may choose the name. */
  readonly name: string | undefined;
  readonly title: string;
}

const expiredPrefix = 'system:expired-node:';

/** Returns the requester, or undefined for other users. */
function makerOf({ username = '', groups = [] }: CertificateSigningRequest['spec']): Maker | undefined {
  if (groups.includes('system:bootstrappers') && username.startsWith('system:bootstrap:'))
    return { joins: true, returns: false, name: undefined, title: 'the holder of a bootstrap token' };
  if (groups.includes('system:expired-nodes') && username.startsWith(expiredPrefix)) {
    const name = username.slice(expiredPrefix.length);
    return {
      joins: false,
      returns: true,
      name,
      title: `the expired certificate of node ${JSON.stringify(name)}`,
    };
  }
  const name = groups.includes('system:nodes') ? nodeOfCommonName(username) : undefined;
  return name === undefined
    ? undefined
    : { joins: false, returns: false, name, title: `node ${JSON.stringify(name)}` };
}

/** Returns true for a machine's first request, made without an identity of its own. */
export const isJoining = ({ spec }: CertificateSigningRequest) =>
  spec.signerName === kubeletClientSigner && makerOf(spec)?.joins === true;

/** Returns true for the request of a node whose certificate has expired. */
export const isReturning = ({ spec }: CertificateSigningRequest) => makerOf(spec)?.returns === true;

export function decideRequest(request: CertificateSigningRequest, situation: Situation): Decision {
  const { spec } = request;
  const check = checkOf(spec);
  const maker = makerOf(spec);
  if (!check || maker === undefined || !isUndecided(request)) return leave;
  const { content } = situation;
  if (!content) return deny('InvalidRequest', 'the certificate request cannot be read');
  const name = nodeOfCommonName(content.commonName) ?? '';
  const wrong = check(content, spec.usages) ?? faultOfName(name);
  if (wrong) return deny('InvalidRequest', wrong);
  if (!isJoining(request) && maker.name !== name)
    return deny('OtherNode', `${maker.title} may not request a certificate for node ${name}`);
  if (maker.returns) return decideReturn(name, request, situation);
  return decideOwn(name, request, content, situation);
}

/** Decides on a valid request of a token's holder, or of the node with this name. */
function decideOwn(
  name: string,
  request: CertificateSigningRequest,
  content: CertificateRequestContent,
  situation: Situation,
): Decision {
  const { spec } = request;
  if (spec.signerName === kubeletServingSigner)
    return decideServing(name, content, situation, remoteAddressOf(spec));
  return isJoining(request) ? decideJoining(name, request, situation) : decideRenewal(name, situation);
}

/** Returns the check of the content; undefined for requests to other signers than the nodes'. */
const checkOf = ({ signerName }: CertificateSigningRequest['spec']) =>
  signerName === kubeletClientSigner || signerName === kubeletServingSigner
    ? contentChecks.get(signerName)
    : undefined;

function faultOfName(name: string): string | undefined {
  const [fault] = checkDns1123Subdomain(name);
  return fault && `node name ${JSON.stringify(name)}: ${fault}`;
}

function decideJoining(name: string, { spec }: CertificateSigningRequest, situation: Situation): Decision {
  const { approval } = situation;
  const life = lifeOf(situation);
  if (life) {
    const message = `duplicate node name: a node ${JSON.stringify(name)} is alive (it renewed its Lease ${life.age} s ago); choose another node-name, or, if that node is this machine, delete the node (minik8s ctl delete node ${name}) or try again ${life.limit} s later`;
    return deny('DuplicateNodeName', message);
  }
  if (approval === 'manual') return { type: 'await', node: name };
  const message = 'Auto approving kubelet client certificate of a bootstrap token.';
  const replaced = replacedMachine(name, situation.node, remoteAddressOf(spec));
  return { type: 'approve', message, ...(replaced !== undefined && { replaced }) };
}

/** Returns a line about a Node that was the machine at another address; the new machine gets its pods. */
function replacedMachine(name: string, node: Node | undefined, from: string | undefined): string | undefined {
  const addresses = (node?.status?.addresses ?? []).flatMap(({ type, address }) =>
    type === 'InternalIP' ? [address] : [],
  );
  if (from === undefined || addresses.length === 0) return undefined;
  if (addresses.some((address) => sameAddress(address, from))) return undefined;
  return `the machine at ${from} joins as node ${JSON.stringify(name)}, which was the machine at ${addresses.join(', ')} and does not answer: it gets that node's pods; if both exist, give one of them another node-name`;
}

/** Returns the age of the node's Lease and its limit, in seconds; undefined if the node is not alive. */
function lifeOf({ node, lease, now }: Situation) {
  const age = secondsSinceRenewal(lease, now);
  const limit = lease?.spec.leaseDurationSeconds ?? 40;
  return age < limit && !isLost(node) ? { age, limit } : undefined;
}

/**
 * Returns true if the masters consider the node lost. The times in its Lease may come from a clock that was
 * ahead.
 */
const isLost = (node: Node | undefined) =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown');

/**
 * Returns the seconds since the last renewal by the node's own clock. A clock that is ahead yields 0; a Lease
 * that was never renewed yields NaN.
 */
const secondsSinceRenewal = (lease: Lease | undefined, now: number): number =>
  Math.max(0, Math.floor((now - Date.parse(lease?.spec.renewTime ?? '')) / 1000));

/** Decides on a renewal. A deleted node must not come back by renewing its certificate. */
function decideRenewal(name: string, { approval, node }: Situation): Decision {
  if (approval === 'manual' && (!node || isPending(node))) return { type: 'await', node: name };
  return { type: 'approve', message: 'Auto approving self kubelet client certificate.' };
}

/**
 * Decides on the request of a node whose certificate has expired. Only the last certificate that the Node of
 * this name has used is accepted: a deleted Node has none, and a Node that was created again has another one.
 */
function decideReturn(name: string, { spec }: CertificateSigningRequest, situation: Situation): Decision {
  const { node } = situation;
  if (spec.signerName !== kubeletClientSigner)
    return deny(
      'InvalidRequest',
      'an expired certificate can be used only to request the next client certificate',
    );
  if (!node || isPending(node))
    return deny('NodeDeleted', `there is no node ${JSON.stringify(name)}, or it waits for approval`);
  const shown = spec.extra?.[expiredCertificateKey]?.[0];
  if (shown === undefined || shown !== node.metadata.annotations?.[certificateAnnotation])
    return deny(
      'OtherCertificate',
      `the certificate is not the last one that node ${JSON.stringify(name)} has used`,
    );
  const life = lifeOf(situation);
  if (life) {
    const message = `node ${JSON.stringify(name)} is alive: it renewed its Lease ${life.age} s ago`;
    return deny('DuplicateNodeName', message);
  }
  return { type: 'approve', message: 'Auto approving the return of a node whose certificate has expired.' };
}

export const isPending = ({ status }: Node) => status?.phase === 'Pending';

function decideServing(
  name: string,
  content: CertificateRequestContent,
  { node, otherNodes, places }: Situation,
  from: string | undefined,
): Decision {
  const verdict = judgeServing(content, { name, node, otherNodes, places, from });
  switch (verdict.type) {
    case 'granted':
      return { type: 'approve', message: 'Auto approving kubelet serving certificate.' };
    case 'wait':
      return { type: 'await-masters' };
    case 'refused':
      return deny(verdict.reason, verdict.message);
  }
}

/** Returns the address of the requester, which the server writes, like the other user fields. */
const remoteAddressOf = ({ extra = {} }: CertificateSigningRequest['spec']) => extra[remoteAddressKey]?.[0];
