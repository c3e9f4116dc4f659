/** Ingresses on one node: a front of the node's web server. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import { type Secret, secretResource } from '../../../api/core/v1/secret.ts';
import type { Service } from '../../../api/core/v1/service/service.ts';
import { type EndpointSlice, serviceNameLabel } from '../../../api/discovery/v1/endpoint-slice.ts';
import { type Ingress, ingressResource } from '../../../api/networking/v1/ingress.ts';
import { type IngressClass, ingressClassResource } from '../../../api/networking/v1/ingress-class.ts';
import { answerWithin } from '../../../base/answer-within.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Wake } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../client/client.ts';
import type { Informer, InformerFactory } from '../../../client/informer.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { servingCertificateProblem } from '../../../http/serving-certificate.ts';
import { certificateFile } from '../../../web-server/certificate-file.ts';
import { oldestHolder } from '../../../web-server/host-holders.ts';
import { NotServedError } from '../../../web-server/not-served.ts';
import type { Site } from '../../../web-server/site.ts';
import type { Front, FrontResult } from '../../../web-server/web-server.ts';
import { certificatesByHost, certificateUses } from '../api/certificates.ts';
import { claimsOf } from '../api/claims.ts';
import { isOwn, ownClasses } from '../api/classes.ts';
import type { IngressServed } from '../api/ingress-served.ts';
import { secretPair } from '../api/secret-pair.ts';
import { addressesOf, type Resolve } from './external-addresses.ts';
import { externalNames, ingressSites } from './plan/ingress-sites.ts';
import { WatchedObjects } from './watched-objects.ts';

export interface IngressRoutingOptions {
  readonly client: Client;
  /** Informers that are not started yet: the routing registers those of Ingresses and their classes. */
  readonly informers: InformerFactory;
  readonly services: Informer<Service>;
  /** Informer that is not started yet: the routing adds an index. */
  readonly slices: Informer<EndpointSlice>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly wake: Wake;
  readonly nodeName: string;
  /** Returns the hosts that Dns objects have. */
  readonly otherHosts: () => ReadonlySet<string>;
  readonly resolve: Resolve;
  /** Called with the state after every round, even if nothing has changed. */
  readonly onState: (state: IngressServed) => void;
}

export interface IngressRouting {
  readonly front: Front;
  /** Ends the watches; the web server keeps running. */
  end(): void;
}

const bySliceService = 'ingress.service';
/** Time for which a round waits for Secrets that have not been read yet. */
const secretsMs = 5000;

export function createIngressRouting(options: IngressRoutingOptions): IngressRouting {
  const routing = new Routing(options);
  const reports = stateReports(options);
  return {
    front: {
      plan: () => routing.plan(),
      served: reports.succeeded,
      failed: reports.failed,
    },
    end: () => routing.end(),
  };
}

class Routing {
  readonly #options: IngressRoutingOptions;
  readonly #ingresses: Informer<Ingress>;
  readonly #classes: Informer<IngressClass>;
  readonly #secrets: WatchedObjects<Secret>;
  #resolved: ReadonlyMap<string, readonly string[]> = new Map();
  /** Services, as NAMESPACE/NAME, whose endpoints the sites have. */
  #watchedServices: ReadonlySet<string> = new Set();

  constructor(options: IngressRoutingOptions) {
    const { informers, services, slices, wake } = options;
    this.#options = options;
    this.#ingresses = informers.informerFor(ingressResource);
    this.#classes = informers.informerFor(ingressClassResource);
    const onChange = () => wake.call();
    this.#secrets = new WatchedObjects({ ...options, resource: secretResource, onChange });
    const always = { onAdd: onChange, onUpdate: onChange, onDelete: onChange };
    this.#ingresses.addEventHandler({
      onAdd: onChange,
      onDelete: onChange,
      // A change of the status alone is ignored: the status changes with the nodes.
      onUpdate: (now, old) => {
        if (servedParts(now) !== servedParts(old)) wake.call();
      },
    });
    this.#classes.addEventHandler(always);
    const serviceChanged = () => {
      if (this.#ingresses.lister.list().length > 0) wake.call();
    };
    services.addEventHandler({ onAdd: serviceChanged, onUpdate: serviceChanged, onDelete: serviceChanged });
    slices.addIndex(bySliceService, (slice) => [serviceOfSlice(slice)]);
    const sliceChanged = (slice: EndpointSlice) => {
      if (this.#watchedServices.has(serviceOfSlice(slice))) wake.call();
    };
    slices.addEventHandler({ onAdd: sliceChanged, onUpdate: sliceChanged, onDelete: sliceChanged });
  }

  async plan() {
    const { services, slices, otherHosts, resolve } = this.#options;
    const own = ownClasses(this.#classes.lister.list());
    const ingresses = this.#ingresses.lister
      .list()
      .filter((ingress) => isOwn(ingress, own) && ingress.metadata.deletionTimestamp === undefined);
    const claims = claimsOf(ingresses, otherHosts());
    const serviceOf = (namespace: string, name: string) => services.lister.get(`${namespace}/${name}`);
    const certificates = await this.#certificates(ingresses, claims);
    this.#resolved = await addressesOf(externalNames(claims, serviceOf), this.#resolved, resolve);
    const watched = new Set<string>();
    const slicesOf = (service: string) => {
      watched.add(service);
      return slices.lister.byIndex(bySliceService, service);
    };
    const files = new Map([...certificates.byHost].map(([host, { name }]) => [host, name]));
    const facts = { claims, certificates: files, serviceOf, slicesOf, resolved: this.#resolved };
    const sites = ingressSites(facts);
    this.#watchedServices = watched;
    return {
      isNeeded: ingresses.length > 0,
      sites,
      holderOf: ({ host }: Site) =>
        oldestHolder((claims.byHost.get(host) ?? []).map(({ ingress }) => ingress)),
      certificates: new Map([...certificates.byHost.values()].map(({ name, pem }) => [name, pem])),
      wantsTls: ingresses.length > 0,
    };
  }

  end(): void {
    this.#secrets.close();
  }

  async #certificates(ingresses: readonly Ingress[], claims: Parameters<typeof certificatesByHost>[1]) {
    const uses = certificateUses(ingresses);
    this.#secrets.watch(new Set(uses.map(({ secret }) => secret)));
    await answerWithin(this.#options.clock, secretsMs, this.#secrets.allRead());
    const files = new Map<string, { readonly name: string; readonly pem: string }>();
    for (const { secret } of uses) {
      const file = files.has(secret) ? undefined : fileOf(this.#secrets.get(secret));
      if (file) files.set(secret, file);
    }
    const byHost = certificatesByHost(uses, claims, (secret) => files.has(secret));
    return {
      byHost: new Map(
        [...byHost].flatMap(([host, secret]) => {
          const file = files.get(secret);
          return file ? [[host, file] as const] : [];
        }),
      ),
    };
  }
}

/** Returns the file of a usable certificate; its name is unique to the content. */
function fileOf(secret: Secret | undefined): { readonly name: string; readonly pem: string } | undefined {
  const pair = secret && secretPair(secret);
  return !pair || servingCertificateProblem(pair) !== undefined ? undefined : certificateFile(pair);
}

const serviceOfSlice = ({ metadata: { namespace, labels } }: EndpointSlice) =>
  `${namespace}/${labels?.[serviceNameLabel] ?? ''}`;

const servedParts = ({ metadata, spec }: Ingress) =>
  JSON.stringify([spec, metadata.annotations, metadata.deletionTimestamp, metadata.uid]);

const nothingToServe: IngressServed = { reason: 'NothingToServe', message: 'there is no Ingress' };

function stateOf(isNeeded: boolean, { httpsProblem, refused, taken }: FrontResult): IngressServed {
  if (!isNeeded) return nothingToServe;
  if (taken.length > 0) {
    const hosts = taken.slice(0, 3).map((host) => host || '*');
    const message = `hosts ${hosts.join(', ')} are served for older routes of Gateways in other namespaces`;
    return { reason: 'Serving', message };
  }
  if (refused.length > 0) {
    const hosts = refused.slice(0, 3).map((host) => host || '*');
    return { reason: 'Serving', message: `nginx rejects the routes of ${hosts.join(', ')}: they answer 503` };
  }
  return httpsProblem === undefined
    ? { reason: 'Serving', message: 'Ingresses are served' }
    : { reason: 'Serving', message: `Ingresses are served by HTTP, not by HTTPS: ${httpsProblem}` };
}

/** Returns the functions that report the state after each round; a new problem becomes an event. */
function stateReports({ onState, events, log, nodeName }: IngressRoutingOptions) {
  const node: Pick<Node, 'apiVersion' | 'kind' | 'metadata'> = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, uid: nodeName, resourceVersion: '', creationTimestamp: '' },
  };
  let lastProblem = '';
  const report = (message: string) => {
    if (message === lastProblem) return;
    lastProblem = message;
    if (message === '') return log.info('Ingresses are served again');
    log.error('Ingresses are not served as written', { error: message });
    events.event(node, 'Warning', 'IngressNotServed', message);
  };
  return {
    succeeded(isNeeded: boolean, result: FrontResult): void {
      const state = stateOf(isNeeded, result);
      onState(state);
      const { httpsProblem, refused, taken } = result;
      const hasProblem = isNeeded && (httpsProblem !== undefined || refused.length + taken.length > 0);
      report(hasProblem ? state.message : '');
    },
    failed(error: unknown): void {
      const message = errorMessage(error);
      onState({ reason: error instanceof NotServedError ? error.reason : 'RoutingFailed', message });
      report(`Ingresses are not served: ${message}`);
    },
  };
}
