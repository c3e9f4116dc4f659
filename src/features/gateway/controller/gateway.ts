/**
 * Keeps the definitions of the Gateway API and the class that every cluster has, and writes the statuses of
 * Gateways, their classes and their routes.
 */
import {
  type CustomResourceDefinition,
  customResourceDefinitionResource,
} from '../../../api/apiextensions/v1/custom-resource-definition.ts';
import { type ConfigMap, configMapResource } from '../../../api/core/v1/config-map.ts';
import { type Namespace, namespaceResource } from '../../../api/core/v1/namespace.ts';
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { type Secret, secretResource } from '../../../api/core/v1/secret.ts';
import { type Service, serviceResource } from '../../../api/core/v1/service/service.ts';
import { type AccountRights, read } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { type KubeObject, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition, ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import { nextTurn } from '../../../base/clock.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { tolerate } from '../../../controller-runtime/tolerate.ts';
import { AuthorityBundles } from '../../../http/authority-bundle.ts';
import { servingCertificateProblem } from '../../../http/serving-certificate.ts';
import { secretPair } from '../../ingress/api/secret-pair.ts';
import { namedConfigMaps } from '../api/backend-tls.ts';
import { controllerName, ownClassName } from '../api/classes.ts';
import {
  backendTlsPolicyResource,
  gatewayClassResource,
  gatewayResource,
  grpcRouteResource,
  httpRouteResource,
  referenceGrantResource,
} from '../api/kinds.ts';
import { isOwnDefinition, planDefinitions } from './definition-plan.ts';
import { type NamedObjects, planStatuses, servedText } from './status-plan.ts';

export const gatewayRights: AccountRights = {
  own: [
    [
      read,
      'gateway.networking.k8s.io',
      'gatewayclasses gateways httproutes grpcroutes backendtlspolicies referencegrants',
    ],
    [
      'update',
      'gateway.networking.k8s.io',
      'gatewayclasses/status gateways/status httproutes/status grpcroutes/status backendtlspolicies/status',
    ],
    ['create', 'gateway.networking.k8s.io', 'gatewayclasses'],
    [read, 'apiextensions.k8s.io', 'customresourcedefinitions'],
    ['create update', 'apiextensions.k8s.io', 'customresourcedefinitions'],
    [read, '', 'configmaps namespaces nodes secrets services'],
  ],
};

/** Keys: the definitions, the class, and all Gateways with their routes, which depend on one another. */
const definitionsKey = 'definitions';
const classKey = 'class';
const allKey = 'all';
/** Selects all Secrets but releases of Helm, which are large and are not certificates. */
const certificates = { fieldSelector: 'type!=helm.sh/release.v1' };

export function gatewayController(context: ControllerContext): ControllerDefinition {
  const controller = new GatewayController(context);
  return {
    name: 'gateway',
    startsLater: true,
    workers: 1,
    watches: [
      watched(customResourceDefinitionResource, ({ metadata }) =>
        isOwnDefinition(metadata.name) ? [definitionsKey] : [],
      ),
      // This namespace always exists, so the definitions and the class are looked for at the start.
      watched(namespaceResource, ({ metadata }) =>
        metadata.name === 'kube-system' ? [definitionsKey, classKey, allKey] : [allKey],
      ),
      watched(serviceResource, (service) => controller.keysOfService(service)),
      watched(nodeResource, () => controller.keysOfNodes()),
      watched(configMapResource, (configMap) => controller.keysOfConfigMap(configMap)),
      watched(secretResource, (secret) => controller.keysOfSecret(secret), certificates),
    ],
    watchOf: (kind) => controller.watchOf(kind),
    keysOfKind: () => [classKey, allKey],
    reconcile: (key) => controller.reconcile(key),
  };
}

const kinds = [
  gatewayClassResource,
  gatewayResource,
  httpRouteResource,
  grpcRouteResource,
  backendTlsPolicyResource,
  referenceGrantResource,
] as const;
const isSame = (a: ResourceRef, b: ResourceDefinition) =>
  a.group === b.group && a.version === b.version && a.plural === b.plural;

class GatewayController {
  readonly #context: ControllerContext;
  readonly #definitions: Lister<CustomResourceDefinition>;
  readonly #namespaces: Lister<Namespace>;
  readonly #services: Lister<Service>;
  readonly #secrets: Lister<Secret>;
  readonly #configMaps: Lister<ConfigMap>;
  readonly #nodes: Lister<Node>;
  readonly #bundles = new AuthorityBundles();
  /** Plurals of the kinds that are served. */
  readonly #kinds = new Set<string>();
  /** Reports of the nodes at the last look, as a text. */
  #served = '';
  /** Objects that routes, Gateways and policies name. */
  #named: NamedObjects = {
    services: new Set(),
    secrets: new Set(),
    configMaps: new Set(),
  };

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    this.#definitions = informers.informerFor(customResourceDefinitionResource).lister;
    this.#namespaces = informers.informerFor(namespaceResource).lister;
    this.#services = informers.informerFor(serviceResource).lister;
    this.#secrets = informers.informerFor(secretResource, certificates).lister;
    this.#configMaps = informers.informerFor(configMapResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
  }

  watchOf(kind: ResourceDefinition) {
    const ref = kinds.find((one) => isSame(one, kind));
    if (!ref) return undefined;
    this.#kinds.add(ref.plural);
    return watched(ref as ResourceRef, () => (ref === gatewayClassResource ? [classKey, allKey] : [allKey]));
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

  keysOfConfigMap(configMap: ConfigMap): readonly ObjectKey[] {
    return this.#named.configMaps.has(objectKey(configMap)) ? [allKey] : [];
  }

  async reconcile(key: ObjectKey): Promise<undefined> {
    if (key === definitionsKey) return this.#keepDefinitions();
    // Nothing can be decided before all kinds are served and listed; `keysOfKind` then enqueues the keys
    // again.
    if (!this.#isComplete()) return;
    if (key === classKey) return this.#keepClass();
    return this.#lookAtAll();
  }

  #isComplete(): boolean {
    const { informers } = this.#context;
    const needed = kinds.filter((ref) => ref !== backendTlsPolicyResource || this.#servesPolicies());
    return needed.every(
      (ref) => this.#kinds.has(ref.plural) && informers.informerFor(ref as ResourceRef).hasSynced,
    );
  }

  /** A definition that another program has created may have only earlier versions of the kind. */
  #servesPolicies(): boolean {
    const { group, plural, version } = backendTlsPolicyResource;
    const definition = this.#definitions.get(`${plural}.${group}`);
    return definition?.spec.versions.some((one) => one.name === version && one.served) ?? true;
  }

  async #keepDefinitions(): Promise<undefined> {
    const { create, update } = planDefinitions(this.#definitions.list());
    const client = this.#context.client.resource(customResourceDefinitionResource);
    for (const definition of create) await tolerate(client.create(definition), isAlreadyExists);
    for (const definition of update) await ifPresent(client.update(definition));
  }

  async #keepClass(): Promise<undefined> {
    if (this.#list(gatewayClassResource).some(({ metadata }) => metadata.name === ownClassName)) return;
    const draft = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: ownClassName },
      spec: { controllerName },
    };
    await tolerate(this.#context.client.resource(gatewayClassResource).create(draft), isAlreadyExists);
  }

  /** Finds the informer at each call: a kind whose definition was created again has another informer. */
  #list<T extends KubeObject>(ref: ResourceRef<T>): readonly T[] {
    return this.#context.informers.informerFor(ref).lister.list();
  }

  #policies = () => (this.#servesPolicies() ? this.#list(backendTlsPolicyResource) : []);

  /** Reads the ConfigMaps of all policies. Each new one takes a turn, so other work goes on meanwhile. */
  async #readAuthorities(): Promise<void> {
    for (const key of namedConfigMaps(this.#policies())) {
      const configMap = this.#configMaps.get(key);
      if (!configMap || this.#bundles.has(configMap)) continue;
      this.#bundles.of(configMap);
      await nextTurn(this.#context.clock);
    }
  }

  async #lookAtAll(): Promise<undefined> {
    await this.#readAuthorities();
    const nodes = this.#nodes.list();
    this.#served = servedText(nodes);
    const { writes, named } = planStatuses({
      nodes,
      classes: this.#list(gatewayClassResource),
      gateways: this.#list(gatewayResource),
      routes: [...this.#list(httpRouteResource), ...this.#list(grpcRouteResource)],
      policies: this.#policies(),
      grants: this.#list(referenceGrantResource),
      labelsOf: (name) => {
        const namespace = this.#namespaces.get(name);
        return namespace && (namespace.metadata.labels ?? {});
      },
      serviceOf: (namespace, name) => this.#services.get(`${namespace}/${name}`),
      certificateProblem: (secret) => certificateProblem(this.#secrets.get(secret)),
      authoritiesProblem: (configMap) => this.#bundles.problemOf(this.#configMaps.get(configMap)),
      now: rfc3339(this.#context.clock.now()),
    });
    this.#named = named;
    for (const { ref, object, status } of writes) {
      const changed: KubeObject & { readonly status: unknown } = { ...deepCopy(object), status };
      await ifPresent(this.#context.client.resource(ref).updateStatus(changed));
    }
  }
}

/** Returns why the Secret is not usable as a certificate, as a sentence without its subject. */
function certificateProblem(secret: Secret | undefined): string | undefined {
  if (!secret) return 'does not exist';
  const pair = secretPair(secret);
  return pair ? servingCertificateProblem(pair) : 'has no tls.crt or no tls.key';
}
