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
  isUndecided,
  kubeletClientSigner,
  kubeletServingSigner,
} from '../../api/certificates/v1/conditions.ts';
import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey } from '../../apimachinery/meta.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import type { CertificateRequestContent, ReadCertificateRequest } from '../../formats/certificate-request.ts';
import { KnownPlaces, type ReservedPlaces } from './cluster-places.ts';
import {
  type Decision,
  decideRequest,
  isJoining,
  isReturning,
  type NodeApproval,
  type Situation,
} from './csr-approving-plan.ts';
import { nodeOfCommonName } from './csr-content-plan.ts';
import { PendingNodes } from './pending-nodes.ts';

export const csrApprovingRights: AccountRights = {
  kubernetes: [
    ['get list watch', 'certificates.k8s.io', 'certificatesigningrequests'],
    [
      'update',
      'certificates.k8s.io',
      'certificatesigningrequests/approval certificatesigningrequests/status',
    ],
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kube-apiserver-client-kubelet'],
    ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
    writeEvents,
  ],
  // The controller approves serving certificates too. Machines that wait for approval are Nodes, which it
  // creates, approves and deletes.
  own: [
    ['get create update delete', 'core', 'nodes'],
    ['update', 'core', 'nodes/status'],
    ['update', 'certificates.k8s.io', 'certificatesigningrequests'],
    ['approve', 'certificates.k8s.io', 'signers', 'kubernetes.io/kubelet-serving'],
  ],
};

export interface CsrApprovingOptions extends ReservedPlaces {
  readonly approval: NodeApproval;
  readonly read: ReadCertificateRequest;
}

export const csrApproving =
  (options: CsrApprovingOptions): ControllerFactory =>
  (context) =>
    new CsrApproving(context, options).definition();

class CsrApproving {
  readonly #context: ControllerContext;
  readonly #options: CsrApprovingOptions;
  readonly #requests: Lister<CertificateSigningRequest>;
  readonly #nodes: Lister<Node>;
  readonly #leases: Lister<Lease>;
  readonly #places: KnownPlaces;
  readonly #pendingNodes: PendingNodes;
  /** Node whose creation or approval each request waits for. */
  readonly #waiting = new Map<ObjectKey, string>();
  /** Requests that wait until a master has published its address. */
  readonly #waitingForMasters = new Set<ObjectKey>();

  constructor(context: ControllerContext, options: CsrApprovingOptions) {
    const { informers, client } = context;
    this.#context = context;
    this.#options = options;
    this.#requests = informers.informerFor(requestResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
    this.#leases = informers.informerFor(leaseResource).lister;
    this.#places = new KnownPlaces(options, informers.informerFor(serviceResource).lister);
    this.#pendingNodes = new PendingNodes(client);
  }

  definition(): ControllerDefinition {
    return {
      name: 'csr-approving',
      workers: 1,
      watches: [
        watched(requestResource, ({ metadata }) => [metadata.name]),
        watched(nodeResource, ({ metadata }) =>
          [...this.#waiting].filter(([, node]) => node === metadata.name).map(([key]) => key),
        ),
        // Requests can be decided once a master has published its address.
        watched(leaseResource, (lease) => (this.#places.learn(lease) ? [...this.#waitingForMasters] : [])),
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<undefined> {
    this.#waiting.delete(key);
    this.#waitingForMasters.delete(key);
    const request = this.#requests.get(key);
    if (!request || isTerminating(request)) return;
    const content = await this.#contentOf(request);
    const name = nodeOfCommonName(content?.commonName ?? '');
    const node = name === undefined ? undefined : this.#nodes.get(name);
    if (!isUndecided(request)) return this.#settle(key, request, name, node);
    const situation = this.#situation(content, name, node);
    const decision = decideRequest(request, situation);
    const isFinal = decision.type === 'deny' || isReturning(request);
    if (!isFinal || !node) return this.#act(key, request, decision, node);
    // A denial is final, and a deleted node must not return: neither may be based on a stale cache.
    const live = await ifPresent(this.#context.client.resource(nodeResource).get(node.metadata.name));
    return this.#act(key, request, decideRequest(request, { ...situation, node: live }), live);
  }

  #situation(
    content: CertificateRequestContent | undefined,
    name: string | undefined,
    node: Node | undefined,
  ): Situation {
    return {
      approval: this.#options.approval,
      content,
      node,
      lease: name === undefined ? undefined : this.#leases.get(`kube-node-lease/${name}`),
      otherNodes: this.#nodes.list().filter(({ metadata }) => metadata.name !== name),
      places: this.#places.places(),
      now: this.#context.clock.now(),
    };
  }

  async #contentOf({ spec }: CertificateSigningRequest): Promise<CertificateRequestContent | undefined> {
    try {
      return await this.#options.read(Buffer.from(spec.request, 'base64').toString('latin1'));
    } catch {
      // The API server parsed the request before it stored it. A request that cannot be parsed here is
      // denied.
      return undefined;
    }
  }

  async #act(
    key: ObjectKey,
    request: CertificateSigningRequest,
    decision: Decision,
    node: Node | undefined,
  ): Promise<undefined> {
    switch (decision.type) {
      case 'leave':
        return;
      case 'await':
        this.#waiting.set(key, decision.node);
        if (isJoining(request)) await this.#pendingNodes.show(request, decision.node, node);
        return;
      case 'await-masters':
        this.#waitingForMasters.add(key);
        this.#context.log.info(
          'a certificate request waits: the addresses of the masters are not known yet',
          { request: key },
        );
        return;
      case 'approve':
        if (decision.replaced !== undefined && node) this.#reportReplaced(node, decision.replaced);
        return this.#decide(request, 'Approved', 'AutoApproved', decision.message);
      case 'deny':
        return this.#decide(request, 'Denied', decision.reason, decision.message);
    }
  }

  #reportReplaced(node: Node, message: string): void {
    this.#context.events.event(node, 'Warning', 'NodeReplaced', message);
    this.#context.log.warn(message, { node: node.metadata.name });
  }

  async #decide(
    request: CertificateSigningRequest,
    type: 'Approved' | 'Denied',
    reason: string,
    message: string,
  ): Promise<undefined> {
    const { client, log } = this.#context;
    const next = deepCopy(request);
    const conditions = [
      ...(request.status?.conditions ?? []),
      { type, status: 'True' as const, reason, message },
    ];
    next.status = { ...next.status, conditions };
    await ifPresent(client.resource(requestResource).updateSubresource(next, 'approval'));
    log.info(`certificate request ${type.toLowerCase()}`, { request: request.metadata.name, message });
  }

  /** Updates the Node after the decision on its request; waits for a Node that does not exist yet. */
  async #settle(
    key: ObjectKey,
    request: CertificateSigningRequest,
    name: string | undefined,
    node: Node | undefined,
  ): Promise<undefined> {
    if (name === undefined || !isOfNodes(request)) return;
    if (node) await this.#pendingNodes.settle(request, node);
    else this.#waiting.set(key, name);
  }
}

const isOfNodes = ({ spec }: CertificateSigningRequest) =>
  spec.signerName === kubeletClientSigner || spec.signerName === kubeletServingSigner;
