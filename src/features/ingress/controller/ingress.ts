/**
 * Writes the addresses of the serving nodes into the status of Ingresses, records events about what is not
 * served as written, and keeps the class that every cluster has.
 */
import { namespaceResource } from '../../../api/core/v1/namespace.ts';
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { type Secret, secretResource } from '../../../api/core/v1/secret.ts';
import { type Service, serviceResource } from '../../../api/core/v1/service/service.ts';
import { type Ingress, ingressResource } from '../../../api/networking/v1/ingress.ts';
import { type IngressClass, ingressClassResource } from '../../../api/networking/v1/ingress-class.ts';
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { tolerate } from '../../../controller-runtime/tolerate.ts';
import { type Dns, dnsResource } from '../../host-names/api/dns.ts';
import { certificateUses } from '../api/certificates.ts';
import { claimsOf } from '../api/claims.ts';
import { controllerName, defaultClassAnnotation, isOwn, ownClasses, ownClassName } from '../api/classes.ts';
import { notServedProblem, servedAddresses } from '../api/ingress-served.ts';
import { certificateProblem } from './certificate-problem.ts';
import { planStatus, problemsOf } from './ingress-plan.ts';

export const ingressRights: AccountRights = {
  own: [
    [read, 'networking.k8s.io', 'ingresses ingressclasses'],
    ['update', 'networking.k8s.io', 'ingresses/status'],
    ['create', 'networking.k8s.io', 'ingressclasses'],
    [read, 'minik8s.io', 'dnses'],
    [read, '', 'namespaces nodes secrets services'],
    writeEvents,
  ],
};

/** Key under which the class is kept, and one under which all Ingresses are looked at together. */
const classKey = 'class';
const allKey = 'all';
/** Selects all Secrets but releases of Helm, which are large and are not certificates. */
const certificates = { fieldSelector: 'type!=helm.sh/release.v1' };

export function ingressController(context: ControllerContext): ControllerDefinition {
  const controller = new IngressController(context);
  return {
    name: 'ingress',
    // One worker reconciles all Ingresses together: which of them has a path depends on the others.
    workers: 1,
    watches: [
      watched(ingressResource, () => [allKey]),
      watched(ingressClassResource, () => [classKey, allKey]),
      // This namespace always exists, so that the class is looked for at the start.
      watched(namespaceResource, ({ metadata }) => (metadata.name === 'kube-system' ? [classKey] : [])),
      watched(serviceResource, (service) => controller.keysOfService(service)),
      watched(nodeResource, () => controller.keysOfNodes()),
      watched(secretResource, (secret) => controller.keysOfSecret(secret), certificates),
    ],
    // A server without the feature of Dns objects does not have their kind.
    watchOf: (kind) =>
      kind.plural === dnsResource.plural && kind.group === dnsResource.group
        ? controller.watchDnses()
        : undefined,
    reconcile: (key) => controller.reconcile(key),
  };
}

const servedText = (nodes: readonly Node[]) =>
  [servedAddresses(nodes).join(), notServedProblem(nodes)?.message].join(' ');

class IngressController {
  readonly #context: ControllerContext;
  readonly #ingresses: Lister<Ingress>;
  readonly #classes: Lister<IngressClass>;
  readonly #services: Lister<Service>;
  readonly #secrets: Lister<Secret>;
  readonly #nodes: Lister<Node>;
  #dnses: Lister<Dns> | undefined;
  /** Reports of the nodes at the last look, as a text. */
  #served = '';
  /** Services and Secrets that own Ingresses name. */
  #named: { readonly services: ReadonlySet<string>; readonly secrets: ReadonlySet<string> } = {
    services: new Set(),
    secrets: new Set(),
  };
  /** Messages of the recorded events, by the uid of the Ingress. */
  #reported = new Map<string, ReadonlySet<string>>();

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    this.#ingresses = informers.informerFor(ingressResource).lister;
    this.#classes = informers.informerFor(ingressClassResource).lister;
    this.#services = informers.informerFor(serviceResource).lister;
    this.#secrets = informers.informerFor(secretResource, certificates).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
  }

  watchDnses() {
    this.#dnses = this.#context.informers.informerFor(dnsResource).lister;
    return watched(dnsResource, () => [allKey]);
  }

  keysOfNodes(): readonly ObjectKey[] {
    return servedText(this.#nodes.list()) === this.#served ? [] : [allKey];
  }

  keysOfService(service: Service): readonly ObjectKey[] {
    return this.#named.services.has(objectKey(service)) ? [allKey] : [];
  }

  keysOfSecret(secret: Secret): readonly ObjectKey[] {
    return this.#named.secrets.has(objectKey(secret)) ? [allKey] : [];
  }

  async reconcile(key: ObjectKey): Promise<undefined> {
    if (key === classKey) await this.#keepClass();
    else await this.#lookAtAll();
    return undefined;
  }

  async #keepClass(): Promise<void> {
    if (this.#classes.get(ownClassName)) return;
    const isFirst = this.#classes.list().length === 0;
    const annotations = isFirst ? { annotations: { [defaultClassAnnotation]: 'true' } } : {};
    const draft = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: ownClassName, ...annotations },
      spec: { controller: controllerName },
    };
    await tolerate(this.#context.client.resource(ingressClassResource).create(draft), isAlreadyExists);
  }

  async #lookAtAll(): Promise<void> {
    const own = ownClasses(this.#classes.list());
    const ingresses = this.#ingresses.list().filter((one) => isOwn(one, own) && !isTerminating(one));
    const claims = claimsOf(ingresses, new Set((this.#dnses?.list() ?? []).map(({ spec }) => spec.host)));
    const uses = certificateUses(ingresses);
    const nodes = this.#nodes.list();
    const addresses = servedAddresses(nodes);
    const notServed = notServedProblem(nodes);
    this.#served = servedText(nodes);
    this.#named = {
      services: new Set(
        [...claims.byHost.values()]
          .flat()
          .flatMap(({ ingress, backend }) =>
            backend.service ? [`${ingress.metadata.namespace}/${backend.service.name}`] : [],
          ),
      ),
      secrets: new Set(uses.map(({ secret }) => secret)),
    };
    const now = this.#context.clock.now();
    const facts = {
      ...{ claims, uses },
      serviceOf: (namespace: string, name: string) => this.#services.get(`${namespace}/${name}`),
      certificateProblem: (secret: string, hosts: readonly string[]) =>
        certificateProblem(this.#secrets.get(secret), hosts, now),
    };
    const reported = new Map<string, ReadonlySet<string>>();
    for (const ingress of ingresses) {
      const problems = [...(notServed ? [notServed] : []), ...problemsOf(ingress, facts)];
      const before = this.#reported.get(ingress.metadata.uid);
      for (const { reason, message } of problems)
        if (!before?.has(message)) this.#context.events.event(ingress, 'Warning', reason, message);
      reported.set(ingress.metadata.uid, new Set(problems.map(({ message }) => message)));
      await this.#write(ingress, addresses);
    }
    this.#reported = reported;
  }

  async #write(ingress: Ingress, addresses: readonly string[]): Promise<void> {
    const status = planStatus(ingress, addresses);
    if (!status) return;
    await ifPresent(
      this.#context.client.resource(ingressResource).updateStatus({ ...deepCopy(ingress), status }),
    );
  }
}
