/**
 * Approves and denies certificate requests of nodes (rules: csr-approving-plan.ts). If joining requires
 * manual approval, the machine is shown as a Node of phase Pending, which is deleted together with its
 * request. The requests are owned by their Node: deleting the Node, to reject the machine or to remove it,
 * deletes its requests as well.
 */

import {
  type CertificateSigningRequest,
  certificateSigningRequestResource as requestResource,
} from '../../api/certificates/v1/certificate-signing-request.ts';
import {
  hasCondition,
  isUndecided,
  kubeletClientSigner,
  kubeletServingSigner,
} from '../../api/certificates/v1/conditions.ts';
import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { type MasterPlace, placesOf } from '../../api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../api/core/v1/node.ts';
import { serviceResource } from '../../api/core/v1/service.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import {
  isOwnedBy,
  isTerminating,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
} from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { isAlreadyExists } from '../../apimachinery/status-error.ts';
import { requireRange } from '../../base/addresses.ts';
import type { CertificateRequestContent, ReadCertificateRequest } from '../../base/certificate-request.ts';
import { packKey } from '../../base/packed-key.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import {
  type Decision,
  decideRequest,
  isJoining,
  isPending,
  type NodeApproval,
  type Situation,
} from './csr-approving-plan.ts';
import { nodeOfCommonName } from './csr-content-plan.ts';
import type { ClusterPlaces } from './csr-serving-plan.ts';

export interface CsrApprovingOptions {
  readonly approval: NodeApproval;
  /** Reserved ranges, such as 10.96.0.0/16, and domain: no node may serve under these addresses and names. */
  readonly serviceCidr: string;
  readonly clusterCidr: string;
  readonly clusterDomain: string;
  readonly read: ReadCertificateRequest;
}

export const csrApproving =
  (options: CsrApprovingOptions): ControllerFactory =>
  (context) =>
    csrApprovingController(context, options);

function csrApprovingController(
  { client, clock, informers, log }: ControllerContext,
  { approval, read, serviceCidr, clusterCidr, clusterDomain }: CsrApprovingOptions,
): ControllerDefinition {
  const kept = {
    clusterDomain,
    serviceRange: requireRange(serviceCidr),
    podRange: requireRange(clusterCidr),
  };
  const requests = informers.informerFor(requestResource).lister;
  const nodes = informers.informerFor(nodeResource).lister;
  const leases = informers.informerFor(leaseResource).lister;
  const services = informers.informerFor(serviceResource).lister;
  /** Node whose creation or approval each request waits for. */
  const waiting = new Map<ObjectKey, string>();
  /** Requests that wait until a master has published its address. */
  const waitingForMasters = new Set<ObjectKey>();
  /** Known masters, including stopped ones, because a certificate outlasts their restart. */
  const masters = new Map<string, MasterPlace>();

  async function reconcile(key: ObjectKey): Promise<undefined> {
    waiting.delete(key);
    waitingForMasters.delete(key);
    const request = requests.get(key);
    if (!request || isTerminating(request)) return;
    const content = await contentOf(request);
    const name = nodeOfCommonName(content?.commonName ?? '');
    const node = name === undefined ? undefined : nodes.get(name);
    if (!isUndecided(request)) return settle(key, request, name, node);
    const situation: Situation = {
      approval,
      content,
      node,
      lease: name === undefined ? undefined : leases.get(`kube-node-lease/${name}`),
      otherNodes: nodes.list().filter(({ metadata }) => metadata.name !== name),
      places: places(),
      now: clock.now(),
    };
    const decision = decideRequest(request, situation);
    if (decision.type !== 'deny' || !node) {
      await act(key, request, decision, node);
      return;
    }
    // A denial is final, so it must not be based on a stale cache.
    const live = await ifPresent(client.resource(nodeResource).get(node.metadata.name));
    await act(key, request, decideRequest(request, { ...situation, node: live }), live);
  }

  /**
   * Returns the reserved places. Masters are read from their Leases, which only masters may write; the
   * Service and its slices would disappear when a user deletes them.
   */
  function places(): ClusterPlaces {
    const ofServices = ['default/kubernetes', 'kube-system/kube-dns'].flatMap(
      (key) => services.get(key)?.spec.clusterIP ?? [],
    );
    return { ...kept, serviceAddresses: ofServices, masters: [...masters.values()] };
  }

  /**
   * Records the masters of a Lease. Returns the requests that can be decided now that a master has published
   * its address.
   */
  function learn(lease: Lease): readonly ObjectKey[] {
    const found = lease.metadata.namespace === 'kube-system' ? placesOf([lease]) : [];
    for (const place of found) masters.set(packKey(place.address, place.hostname ?? ''), place);
    return found.length > 0 ? [...waitingForMasters] : [];
  }

  async function contentOf({
    spec,
  }: CertificateSigningRequest): Promise<CertificateRequestContent | undefined> {
    try {
      return await read(Buffer.from(spec.request, 'base64').toString('latin1'));
    } catch {
      // The API server parsed the request before it stored it. A request that cannot be parsed here is
      // denied.
      return undefined;
    }
  }

  async function act(
    key: ObjectKey,
    request: CertificateSigningRequest,
    decision: Decision,
    node: Node | undefined,
  ): Promise<void> {
    switch (decision.type) {
      case 'leave':
        return;
      case 'await':
        waiting.set(key, decision.node);
        if (isJoining(request)) await showPending(request, decision.node, node);
        return;
      case 'await-masters':
        waitingForMasters.add(key);
        log.info('a certificate request waits: the addresses of the masters are not known yet', {
          request: key,
        });
        return;
      case 'approve':
        return decide(request, 'Approved', 'AutoApproved', decision.message);
      case 'deny':
        return decide(request, 'Denied', decision.reason, decision.message);
    }
  }

  async function decide(
    request: CertificateSigningRequest,
    type: 'Approved' | 'Denied',
    reason: string,
    message: string,
  ): Promise<void> {
    const next = deepCopy(request);
    const conditions = [
      ...(request.status?.conditions ?? []),
      { type, status: 'True' as const, reason, message },
    ];
    next.status = { ...next.status, conditions };
    await ifPresent(client.resource(requestResource).updateSubresource(next, 'approval'));
    log.info(`certificate request ${type.toLowerCase()}`, { request: request.metadata.name, message });
  }

  /**
   * Shows the machine as a pending Node. The Node is created for the request, or exists from an earlier
   * membership of the machine.
   */
  async function showPending(
    request: CertificateSigningRequest,
    name: string,
    existing: Node | undefined,
  ): Promise<void> {
    if (hasNode(request)) return;
    // The cache may not show yet that the Node was deleted and that the request will be deleted with it.
    const live = existing
      ? request
      : await ifPresent(client.resource(requestResource).get(request.metadata.name));
    if (!live || hasNode(live)) return;
    const node = existing ?? (await createPending(live, name));
    if (node) await giveTo(node, live);
  }

  async function giveTo(node: Node, request: CertificateSigningRequest): Promise<void> {
    const next = deepCopy(request);
    next.metadata.ownerReferences = [
      ...(next.metadata.ownerReferences ?? []),
      referenceTo(nodeResource, node),
    ];
    await ifPresent(client.resource(requestResource).update(next));
  }

  /**
   * Returns the created Node, or undefined if another writer created it; its event enqueues the request
   * again.
   */
  async function createPending(request: CertificateSigningRequest, name: string): Promise<Node | undefined> {
    try {
      return await client.resource(nodeResource).create({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, ownerReferences: [referenceTo(requestResource, request)] },
        spec: {},
        status: { phase: 'Pending' },
      });
    } catch (error) {
      if (isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  /**
   * Updates a pending Node after the decision on its request, by any approver. Its other requests are deleted
   * with it.
   */
  async function settle(
    key: ObjectKey,
    request: CertificateSigningRequest,
    name: string | undefined,
    node: Node | undefined,
  ): Promise<undefined> {
    if (name === undefined || !isOfNodes(request)) return;
    if (!node) {
      waiting.set(key, name);
      return;
    }
    if (!isPending(node) || !isOwnedBy(node, request)) {
      if (!hasNode(request)) await giveTo(node, request);
      return;
    }
    if (!hasCondition(request, 'Approved')) {
      const { uid } = node.metadata;
      await ifPresent(client.resource(nodeResource).delete(name, '', { preconditions: { uid } }));
      return;
    }
    const free = deepCopy(node);
    free.metadata.ownerReferences = (node.metadata.ownerReferences ?? []).filter(
      ({ uid }) => uid !== request.metadata.uid,
    );
    const freed = await ifPresent(client.resource(nodeResource).update(free));
    if (!freed?.status) return;
    delete freed.status.phase;
    await ifPresent(client.resource(nodeResource).updateStatus(freed));
  }

  return {
    name: 'csr-approving',
    workers: 1,
    watches: [
      watched(requestResource, ({ metadata }) => [metadata.name]),
      watched(nodeResource, ({ metadata }) =>
        [...waiting].filter(([, node]) => node === metadata.name).map(([key]) => key),
      ),
      watched(leaseResource, learn),
    ],
    reconcile,
  };
}

const isOfNodes = ({ spec }: CertificateSigningRequest) =>
  spec.signerName === kubeletClientSigner || spec.signerName === kubeletServingSigner;
const hasNode = ({ metadata }: KubeObject) =>
  metadata.ownerReferences?.some(({ kind }) => kind === nodeResource.kind) ?? false;

const referenceTo = (ref: ResourceRef, { metadata: { name, uid } }: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(ref),
  kind: ref.kind,
  name,
  uid,
});
