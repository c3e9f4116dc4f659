/** Gateways on one node: a front of the node's web server. */
import type { ConfigMap } from '../../../api/core/v1/config-map.ts';
import { type Namespace, namespaceResource } from '../../../api/core/v1/namespace.ts';
import type { Secret } from '../../../api/core/v1/secret.ts';
import type { Service } from '../../../api/core/v1/service/service.ts';
import { type EndpointSlice, serviceNameLabel } from '../../../api/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { answerWithin } from '../../../base/answer-within.ts';
import type { Wake } from '../../../base/keep-doing.ts';
import type { Logger } from '../../../base/log.ts';
import type { Informer, InformerFactory, Lister } from '../../../client/informer.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { servingCertificateProblem } from '../../../http/serving-certificate.ts';
import { type CertificateFile, certificateFile } from '../../../web-server/certificate-file.ts';
import type { Front, FrontPlan } from '../../../web-server/web-server.ts';
import type { IngressServed } from '../../ingress/api/ingress-served.ts';
import { secretPair } from '../../ingress/api/secret-pair.ts';
import { BackendTlsPolicies } from '../api/backend-tls.ts';
import { backendRefs, serviceOfRef } from '../api/backends.ts';
import { ownGateways } from '../api/classes.ts';
import {
  type BackendTlsPolicy,
  backendTlsPolicyResource,
  type Gateway,
  gatewayClassResource,
  gatewayResource,
  grpcRouteResource,
  httpRouteResource,
  type ReferenceGrant,
  referenceGrantResource,
} from '../api/kinds.ts';
import { namedSecrets } from '../api/listeners.ts';
import { type ServingFacts, servedAttachments, servingOf } from '../api/serving.ts';
import { BackendAuthorities, type ObjectSource } from './backend-authorities.ts';
import { type DefinitionsOptions, isUnserved, servesGateways, untilServed } from './gateway-kinds.ts';
import { gatewaySites } from './plan/gateway-sites.ts';
import { holdersOf } from './plan/host-holders.ts';
import { stateReports } from './state-reports.ts';

export interface GatewayRoutingOptions extends DefinitionsOptions {
  /** Informers that are not started yet, for the kinds of the Gateway API and namespaces. */
  readonly informers: InformerFactory;
  readonly services: Informer<Service>;
  /** Informer that is not started yet: the routing adds an index. */
  readonly slices: Informer<EndpointSlice>;
  readonly secrets: ObjectSource<Secret>;
  readonly configMaps: ObjectSource<ConfigMap>;
  /** Resolves to the certificates in PEM that this machine trusts. */
  readonly systemAuthorities: () => Promise<string>;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly wake: Wake;
  readonly nodeName: string;
  /** Called with the state after every round, even if nothing has changed. */
  readonly onState: (state: IngressServed) => void;
}

export interface GatewayRouting {
  readonly front: Front;
  /**
   * Starts the informers; resolves when they have synced, or when the server does not serve the kinds: their
   * definitions may be made later.
   */
  begin(signal: AbortSignal): Promise<void>;
  /** Ends the watches; the web server keeps running. */
  end(): void;
}

const bySliceService = 'gateway.service';
/** Time for which the start of the web server waits for the objects. */
const syncMs = 30_000;
/** Time for which a round waits for Secrets that have not been read yet. */
const secretsMs = 5000;

export function createGatewayRouting(options: GatewayRoutingOptions): GatewayRouting {
  const routing = new Routing(options);
  const reports = stateReports(options);
  return {
    front: { plan: () => routing.plan(), served: reports.succeeded, failed: reports.failed },
    begin: (signal) => routing.begin(signal),
    end: () => {
      options.secrets.close();
      options.configMaps.close();
    },
  };
}

const nothing: FrontPlan = { isNeeded: false, sites: [], certificates: new Map(), wantsTls: false };

class Routing {
  readonly #options: GatewayRoutingOptions;
  readonly #kinds: ReturnType<typeof kindInformers>;
  readonly #authorities: BackendAuthorities;
  /** Services, as NAMESPACE/NAME, whose endpoints the sites have. */
  #watchedServices: ReadonlySet<string> = new Set();

  constructor(options: GatewayRoutingOptions) {
    this.#options = options;
    this.#kinds = kindInformers(options);
    this.#authorities = new BackendAuthorities(options);
    const { services, slices, wake } = options;
    const changed = () => {
      if (this.#kinds.gateways.lister.list().length > 0) wake.call();
    };
    services.addEventHandler({ onAdd: changed, onUpdate: changed, onDelete: changed });
    slices.addIndex(bySliceService, (slice) => [serviceOfSlice(slice)]);
    const sliceChanged = (slice: EndpointSlice) => {
      if (this.#watchedServices.has(serviceOfSlice(slice))) wake.call();
    };
    slices.addEventHandler({ onAdd: sliceChanged, onUpdate: sliceChanged, onDelete: sliceChanged });
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { client, clock, informers, wake } = this.#options;
    const isServed = await servesGateways(client, clock, signal);
    const served = isServed ? Promise.resolve() : untilServed(this.#options, signal);
    const started = served
      .then(() => informers.start(signal))
      .then(
        () => wake.call(),
        // The informers reject only when the node stops.
        () => undefined,
      );
    // The web server starts even if a kind cannot be listed, because it serves other objects too.
    if (isServed) await answerWithin(clock, syncMs, started).catch(() => undefined);
  }

  async plan(): Promise<FrontPlan> {
    const { classes, gateways, httpRoutes, grpcRoutes, grants, namespaces } = this.#kinds;
    const all = [classes, gateways, httpRoutes, grpcRoutes, grants, namespaces];
    if (!all.every(({ hasSynced }) => hasSynced)) return nothing;
    if (!(await this.#knowsPolicies())) return nothing;
    const own = ownGateways(gateways.lister.list(), classes.lister.list());
    const granted = grants.lister.list();
    const files = await this.#certificates(own, granted);
    const policies = new BackendTlsPolicies(this.#kinds.policies.lister.list());
    const facts = { ...this.#services(), grants: granted };
    const policyOfRef = (...[route, ref]: Parameters<ServingFacts['isSecuredRef']>) => {
      const service = serviceOfRef(route, ref, facts);
      return service && policies.policyOf(service, ref.port);
    };
    const serving = servingOf({
      ...{ classes: classes.lister.list(), gateways: gateways.lister.list() },
      routes: [...httpRoutes.lister.list(), ...grpcRoutes.lister.list()],
      grants: granted,
      labelsOf: (name) => labelsIn(namespaces.lister, name),
      certificateProblem: (secret) => (files.has(secret) ? undefined : 'cannot be used'),
      isSecuredRef: (route, ref) => policyOfRef(route, ref) !== undefined,
    });
    const attachments = servedAttachments(serving);
    const used = attachments.flatMap(({ route }) =>
      backendRefs(route).flatMap((ref) => policyOfRef(route, ref) ?? []),
    );
    const backends = await this.#authorities.read([...new Set(used)]);
    const sites = gatewaySites({
      listeners: serving.listeners,
      attachments,
      certificateOf: (secret) => files.get(secret)?.name,
      ...facts,
      isSecured: (service, port) => policies.policyOf(service, port) !== undefined,
      tlsOf: (service, port) => {
        const policy = policies.policyOf(service, port);
        return policy && backends.tlsOf(policy);
      },
    });
    return {
      isNeeded: own.length > 0,
      sites,
      holderOf: holdersOf(attachments),
      certificates: new Map([...files.values(), ...backends.files].map(({ name, pem }) => [name, pem])),
      wantsTls: sites.some(({ listen }) => listen?.tls),
    };
  }

  /**
   * Resolves to true if the policies are listed, or if the server has no such kind, as with definitions of
   * another program and an earlier version. Without them a request could reach a backend without TLS.
   */
  async #knowsPolicies(): Promise<boolean> {
    return this.#kinds.policies.hasSynced || isUnserved(this.#options.client, backendTlsPolicyResource);
  }

  #services() {
    const { services, slices } = this.#options;
    const watched = new Set<string>();
    this.#watchedServices = watched;
    return {
      serviceOf: (namespace: string, name: string) => services.lister.get(`${namespace}/${name}`),
      slicesOf: (service: string) => {
        watched.add(service);
        return slices.lister.byIndex(bySliceService, service);
      },
    };
  }

  /** Resolves to the files of the usable certificates, by Secret. */
  async #certificates(
    gateways: readonly Gateway[],
    grants: readonly ReferenceGrant[],
  ): Promise<ReadonlyMap<string, CertificateFile>> {
    const { secrets, clock } = this.#options;
    const named = namedSecrets(gateways, grants);
    secrets.watch(named);
    await answerWithin(clock, secretsMs, secrets.allRead());
    return new Map(
      [...named].flatMap((key) => {
        const secret = secrets.get(key);
        const pair = secret && secretPair(secret);
        const isUsable = pair && servingCertificateProblem(pair) === undefined;
        return isUsable ? [[key, certificateFile(pair)] as const] : [];
      }),
    );
  }
}

const labelsIn = (namespaces: Lister<KubeObject>, name: string) => {
  const namespace = namespaces.get(name);
  return namespace && (namespace.metadata.labels ?? {});
};

/**
 * Returns the informers. A change of a spec or of labels wakes the web server, a change of a status does not.
 */
function kindInformers({ informers, wake }: GatewayRoutingOptions) {
  const informerOf = <T extends KubeObject>(ref: ResourceRef<T>) => {
    const informer = informers.informerFor(ref);
    informer.addEventHandler({
      onAdd: () => wake.call(),
      onDelete: () => wake.call(),
      onUpdate: (now, old) => {
        if (servedParts(now) !== servedParts(old)) wake.call();
      },
    });
    return informer;
  };
  return {
    classes: informerOf(gatewayClassResource),
    gateways: informerOf(gatewayResource),
    httpRoutes: informerOf(httpRouteResource),
    grpcRoutes: informerOf(grpcRouteResource),
    policies: informerOf<BackendTlsPolicy>(backendTlsPolicyResource),
    grants: informerOf(referenceGrantResource),
    namespaces: informerOf<Pick<Namespace, keyof KubeObject>>({ ...namespaceResource, part: 'metadata' }),
  };
}

const serviceOfSlice = ({ metadata: { namespace, labels } }: EndpointSlice) =>
  `${namespace}/${labels?.[serviceNameLabel] ?? ''}`;

const servedParts = ({ metadata, ...object }: KubeObject & { readonly spec?: unknown }) =>
  JSON.stringify([object.spec, metadata.labels, metadata.deletionTimestamp, metadata.uid]);
