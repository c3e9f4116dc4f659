/**
 * The Nodes that show machines whose certificate requests wait for a decision, and the ownership between such
 * a Node and its requests.
 */
import {
  type CertificateSigningRequest,
  certificateSigningRequestResource as requestResource,
} from '../../api/certificates/v1/certificate-signing-request.ts';
import { hasCondition } from '../../api/certificates/v1/conditions.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isOwnedBy, type KubeObject, type OwnerReference } from '../../apimachinery/meta.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { isAlreadyExists } from '../../apimachinery/status-error.ts';
import type { Client } from '../../client/client.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { isPending } from './csr-approving-plan.ts';

export class PendingNodes {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Shows the machine as a pending Node. The Node is created for the request, or exists from an earlier
   * membership of the machine.
   */
  async show(request: CertificateSigningRequest, name: string, existing: Node | undefined): Promise<void> {
    if (hasNode(request)) return;
    // The cache may not show yet that the Node was deleted and that the request will be deleted with it.
    const live = existing
      ? request
      : await ifPresent(this.#client.resource(requestResource).get(request.metadata.name));
    if (!live || hasNode(live)) return;
    const node = existing ?? (await this.#create(live, name));
    if (node) await this.#giveTo(node, live);
  }

  async #giveTo(node: Node, request: CertificateSigningRequest): Promise<void> {
    const next = deepCopy(request);
    next.metadata.ownerReferences = [
      ...(next.metadata.ownerReferences ?? []),
      referenceTo(nodeResource, node),
    ];
    await ifPresent(this.#client.resource(requestResource).update(next));
  }

  /**
   * Returns the created Node, or undefined if another writer created it; its event enqueues the request
   * again.
   */
  async #create(request: CertificateSigningRequest, name: string): Promise<Node | undefined> {
    try {
      return await this.#client.resource(nodeResource).create({
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
   * Updates the Node after the decision on its request, by any approver. Its other requests are deleted with
   * it.
   */
  async settle(request: CertificateSigningRequest, node: Node): Promise<void> {
    if (!isPending(node) || !isOwnedBy(node, request)) {
      if (!hasNode(request)) await this.#giveTo(node, request);
      return;
    }
    if (hasCondition(request, 'Approved')) return this.#release(request, node);
    const { name, uid } = node.metadata;
    await ifPresent(this.#client.resource(nodeResource).delete(name, '', { preconditions: { uid } }));
  }

  /** Ends the Node's phase Pending, and its deletion together with the request. */
  async #release(request: CertificateSigningRequest, node: Node): Promise<void> {
    const nodes = this.#client.resource(nodeResource);
    const free = deepCopy(node);
    free.metadata.ownerReferences = (node.metadata.ownerReferences ?? []).filter(
      ({ uid }) => uid !== request.metadata.uid,
    );
    const freed = await ifPresent(nodes.update(free));
    if (!freed?.status) return;
    delete freed.status.phase;
    await ifPresent(nodes.updateStatus(freed));
  }
}

const hasNode = ({ metadata }: KubeObject) =>
  metadata.ownerReferences?.some(({ kind }) => kind === nodeResource.kind) ?? false;

const referenceTo = (ref: ResourceRef, { metadata: { name, uid } }: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(ref),
  kind: ref.kind,
  name,
  uid,
});
